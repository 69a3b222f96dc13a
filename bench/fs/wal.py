"""Four processes that write to one SQLite database in WAL mode. usage: wal.py COMMITS SYNCHRONOUS   (in the current directory)"""

import multiprocessing
import os
import sqlite3
import sys

WRITERS = 4
DATABASE = "wal.db"


def connect(synchronous):
    connection = sqlite3.connect(DATABASE, timeout=120, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute(f"PRAGMA synchronous={synchronous}")
    return connection


def write(writer, commits, synchronous):
    connection = connect(synchronous)
    for _ in range(commits):
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO rows(writer, text) VALUES(?, ?)", (writer, "x" * 200))
        connection.execute("COMMIT")
    connection.close()


def main():
    commits, synchronous = int(sys.argv[1]), sys.argv[2]
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(DATABASE + suffix):
            os.unlink(DATABASE + suffix)
    connection = connect(synchronous)
    connection.execute("CREATE TABLE rows(id INTEGER PRIMARY KEY, writer INTEGER, text TEXT)")
    writers = [multiprocessing.Process(target=write, args=(n, commits, synchronous)) for n in range(WRITERS)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    (count,) = connection.execute("SELECT count(*) FROM rows").fetchone()
    assert count == WRITERS * commits, f"{count} rows"


main()

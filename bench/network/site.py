"""A web server in a sandbox and beside it: site.py PORT. / is short, /large/N has N MiB."""

import http.server
import socket
import sys

ZEROS = bytes(1 << 20)


class Site(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        pieces = int(self.path.rpartition("/")[2]) if self.path.startswith("/large/") else 0
        self.send_response(200)
        self.send_header("content-type", "text/plain")
        self.send_header("content-length", str(pieces << 20 or 2))
        self.end_headers()
        if pieces == 0:
            self.wfile.write(b"ok")
        for _ in range(pieces):
            self.wfile.write(ZEROS)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


Server(("127.0.0.1", int(sys.argv[1])), Site).serve_forever()

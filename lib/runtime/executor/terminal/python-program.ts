/** The same as PERL_PROGRAM, for python 3.5 and later, in two processes: a signal's arrival is readable on a descriptor. */
export const PYTHON_PROGRAM = `
import fcntl, os, re, select, signal, struct, sys, termios
STEP, LAST = 4096, 262144
rows, columns, count = map(int, sys.argv[1:4])
words = [os.environb.pop(b'_%d' % each) for each in range(count)]
def resize(rows, columns):
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
try:
    master, slave = os.openpty()
    modes = termios.tcgetattr(slave)
    modes[0] |= 0x4000
    termios.tcsetattr(slave, termios.TCSANOW, modes)
    resize(rows, columns)
    signals = [each for each in range(1, 32) if each not in (signal.SIGCHLD, signal.SIGKILL, signal.SIGSTOP, signal.SIGCONT)]
    for each in signals:
        signal.signal(each, signal.SIG_IGN)
    changed, change = os.pipe()
    os.set_blocking(changed, False)
    os.set_blocking(change, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(change)
    program = os.fork()
except OSError:
    os.write(4, b'p')
    os._exit(1)
if program == 0:
    try:
        signal.set_wakeup_fd(-1)
        for each in signals + [signal.SIGCHLD]:
            signal.signal(each, signal.SIG_DFL)
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for stream in range(3):
            os.dup2(slave, stream)
        os.closerange(3, 5)
        os.execvpe(words[0], words, os.environb)
    finally:
        os._exit(127)
os.close(4)
for each in master, 3:
    os.set_blocking(each, False)
def read(fd):
    try:
        return os.read(fd, STEP)
    except BlockingIOError:
        return None
    except OSError:
        return b''
incoming, outgoing, last, opened, sized, status = b'', b'', b'\\n', True, True, None
while status is None or outgoing:
    r = [changed] + [3] * sized + [0] * (opened and not incoming) + [master] * (not outgoing)
    r, w, _ = select.select(r, [master] * bool(incoming) + [1] * bool(outgoing), [])
    if changed in r:
        read(changed)
        ended, code = os.waitpid(program, os.WNOHANG)
        if ended:
            status = code
    if sized and (3 in r or 0 in r):
        lines = read(3)
        size = re.search(rb'(\\d+) (\\d+)\\n\\Z', lines or b'')
        if size:
            resize(int(size.group(1)), int(size.group(2)))
        sized = lines != b''
    if 0 in r:
        incoming = read(0)
        opened = bool(incoming)
        if opened:
            last = incoming[-1:]
        else:
            incoming = b'\\4' if last in b'\\n\\r\\4' else b'\\4\\4'
    if master in w:
        try:
            incoming = incoming[os.write(master, incoming):]
        except BlockingIOError:
            pass
        except OSError:
            incoming = b''
    if master in r:
        outgoing = read(master) or b''
    if 1 in w:
        outgoing = outgoing[os.write(1, outgoing):]
left = LAST
while left > 0:
    data = read(master)
    if not data:
        break
    left -= len(data)
    while data:
        data = data[os.write(1, data):]
os._exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
`;

export const PYTHON_PROBE = 'import fcntl, os, select, signal, termios; os.set_blocking, os.environb';

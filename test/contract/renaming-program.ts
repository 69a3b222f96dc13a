/**
 * A Python program that makes random changes, mostly renames of directories, and compares what it sees after each with what it has
 * done. Ends at the first difference with exit code 1, and with 0 when `/tmp/go` exists. Its argument is the seed.
 */
export const RENAMING_PROGRAM = `
import os, random, sys
R = random.Random(int(sys.argv[1]))
tree = {}
done = []

def directories(at='', node=tree):
    yield at, node
    for name, below in list(node.items()):
        if isinstance(below, dict):
            yield from directories(at + name + '/', below)

def below(node, other):
    return any(each is other for _, each in directories('', node))

def step():
    path, node = R.choice([each for each in directories() if each[0].count('/') < 4])
    name = R.choice('abcdefg')
    at = path + name
    there = node.get(name)
    if there is None:
        if R.random() < 0.4:
            done.append('create ' + at)
            text = str(len(done))
            open(at, 'x').write(text)
            node[name] = text
        else:
            done.append('mkdir ' + at)
            os.mkdir(at)
            node[name] = {}
    elif R.random() < 0.7:
        to, target = R.choice([each for each in directories() if each[0].count('/') < 4])
        other = R.choice('abcdefg')
        over = target.get(other)
        if isinstance(there, dict) and below(there, target):
            return
        if over is not None and (over == {}) != (isinstance(there, dict)):
            return
        if isinstance(over, dict) and (over != {} or below(over, node)) or over is there:
            return
        done.append('rename ' + at + ' ' + to + other)
        os.rename(at, to + other)
        del node[name]
        target[other] = there
    elif there == {}:
        done.append('rmdir ' + at)
        os.rmdir(at)
        del node[name]
    elif not isinstance(there, dict):
        done.append('unlink ' + at)
        os.unlink(at)
        del node[name]

def compare():
    at, node = R.choice(list(directories()))
    names = sorted(os.listdir('./' + at))
    assert names == sorted(node), (at, names, sorted(node))
    for name, text in node.items():
        if not isinstance(text, dict):
            found = open(at + name).read()
            assert found == text, (at + name, found, text)

open('/tmp/ready', 'w').close()
try:
    while not os.path.exists('/tmp/go'):
        step()
        compare()
    for _ in range(100):
        compare()
except BaseException:
    print('; '.join(done[-40:]), file=sys.stderr)
    raise
`;

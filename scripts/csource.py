"""Reads tags, enum constants and functions from a C source, for check-layers and check-names.

There is no preprocessor: both branches of an #if are read, and macros are not expanded."""
import os
import re
from collections import namedtuple

SOURCES = ('.c', '.h', '.inc', '.cu')

# The contents of a source. tags: (keyword, name) of each type that has its body here; constants: enum constants;
# defined, declared: functions that are not static.
Source = namedtuple('Source', 'tags constants defined declared')

NOISE = re.compile(r'''//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*''',
                   re.S | re.M)
TOKEN = re.compile(r'[A-Za-z_]\w*|[^\s\w]')
KEYWORDS = {'if', 'for', 'while', 'switch', 'return', 'sizeof', 'defined', '__attribute__'}


def files(*folders, endings=SOURCES):
    """The sorted paths of C sources, or of files with other endings, below the folders."""
    return sorted(os.path.join(folder, name) for top in folders for folder, _, names in os.walk(top)
                  for name in names if name.endswith(endings))


def plain(text, strings=False):
    """The text without comments and preprocessor lines; string literals become empty unless `strings` is true."""
    return NOISE.sub(lambda match: (match[0] if strings else '""') if match[0][0] == '"' else ' ', text)


def comments(text):
    return '\n'.join(match[0] for match in NOISE.finditer(text) if match[0][0] == '/')


def scan(text):
    tokens = TOKEN.findall(plain(text))
    found = Source(set(), set(), set(), set())
    braces = parens = 0
    start = 0  # first token of the current declaration at file scope
    called = None  # last name before a parenthesis in the current declaration
    i = 0
    while i < len(tokens):
        token = tokens[i]
        if token in ('struct', 'union', 'enum'):
            name = tokens[i + 1] if tokens[i + 1] not in '{:;' else None
            body = i + (2 if name else 1)
            if tokens[body:body + 1] == ['{']:
                if name:
                    found.tags.add((token, name))
                if token == 'enum':
                    found.constants.update(enumerators(tokens, body + 1))
        elif token == '(':
            if not braces and not parens and not called and tokens[i - 1].isidentifier() and tokens[i - 1] not in KEYWORDS:
                called = tokens[i - 1]
            parens += 1
        elif token == ')':
            parens -= 1
        elif token == '{':
            if not braces and called and 'static' not in tokens[start:i] and '=' not in tokens[start:i]:
                found.defined.add(called)
            braces += 1
        elif token == '}':
            braces -= 1
            if not braces:
                start, called = i + 1, None
        elif token == ';' and not braces:
            head = tokens[start:i]
            if called and not {'static', 'typedef', '='} & set(head):
                found.declared.add(called)
            start, called = i + 1, None
        i += 1
    return found


def enumerators(tokens, i):
    depth, expected = 0, True
    while depth or tokens[i] != '}':
        if expected and tokens[i].isidentifier():
            yield tokens[i]
        expected = not depth and tokens[i] == ','
        depth += (tokens[i] in '({') - (tokens[i] in ')}')
        i += 1

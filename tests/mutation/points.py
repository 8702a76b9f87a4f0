"""Where the sources can be mutated: a list of points, each a piece of a file and what stands there instead.

Reads clang's syntax tree (`pip install libclang`). Left out, because no mutant can be chosen there at run time: constant
expressions (constexpr, static_assert, case labels, sizes of arrays, arguments of templates, `static const` members) and macros; and
what cannot be seen from outside: `reserve` and `shrink_to_fit`, and steps of a loop's own counter, which end any test.
"""
import os
import re
from dataclasses import dataclass, field

from clang import cindex
from clang.cindex import CursorKind as K
from clang.cindex import TypeKind as T

RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="}
LOGICAL = {"&&": "||", "||": "&&"}
INTEGERS = {T.SHORT, T.INT, T.LONG, T.LONGLONG, T.CHAR_S, T.SCHAR, T.UCHAR, T.USHORT, T.UINT, T.ULONG, T.ULONGLONG}
NUMBERS = INTEGERS | {T.FLOAT, T.DOUBLE}
INVISIBLE = {"reserve", "shrink_to_fit"}


@dataclass
class Point:
    """`pieces` is what the mutant reads: text, or a range of the original file, in which other mutants may stand."""
    file: str
    line: int
    kind: str
    begin: int
    end: int
    pieces: list = field(default_factory=list)
    shown: str = ""
    how: str = "expression"  # or "return": a statement; "removed": an expression of type void
    function: str = ""

    def key(self):
        return (self.file, self.begin, self.end, self.kind, self.shown)


class File:
    def __init__(self, unit, path, name):
        self.unit, self.path, self.name = unit, path, name
        self.data = open(path, "rb").read()
        self.macros = []
        self.points = []

    def text(self, begin, end):
        return self.data[begin:end].decode()


def kind_of(cursor):
    return cursor.type.get_canonical().kind


def extent(cursor):
    return cursor.extent.start.offset, cursor.extent.end.offset


def operator_between(file, left, right):
    """The operator between two operands, and where it stands, or (None, 0)."""
    gap = file.text(extent(left)[1], extent(right)[0])
    gap = re.sub(r"//[^\n]*", lambda m: " " * len(m.group()), gap)
    found = re.fullmatch(r"[\s)]*?([-+*/%<>=!&|]+)[\s(]*", gap)
    return (found.group(1), extent(left)[1] + found.start(1)) if found else (None, 0)


def macros(text):
    """Where macros are used, by their names in capitals, with their arguments."""
    found = []
    for use in re.finditer(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b(\s*\()?|^[ \t]*#.*(\\\n.*)*", text, re.M):
        end, depth = use.end(), 1 if use.group(1) else 0
        while depth > 0:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        found.append((use.start(), end))
    return found


def walk_file(file):
    """Fills file.points with every point, in the order of the text."""
    file.macros = macros(file.data.decode("latin-1"))
    for cursor in file.unit.cursor.get_children():
        if cursor.location.file is not None and cursor.location.file.name == file.path:
            visit(file, cursor, None, "", False)
    seen, points = set(), []
    for point in sorted(file.points, key=lambda p: (p.begin, -p.end, p.kind, p.shown)):
        if point.key() in seen or any(b < point.end and point.begin < e for b, e in file.macros):
            continue
        seen.add(point.key())
        points.append(point)
    return points


FUNCTIONS = {K.FUNCTION_DECL, K.CXX_METHOD, K.CONSTRUCTOR, K.DESTRUCTOR, K.CONVERSION_FUNCTION, K.FUNCTION_TEMPLATE}
OPAQUE = {K.STATIC_ASSERT, K.ENUM_DECL, K.TYPEDEF_DECL, K.TYPE_ALIAS_DECL, K.TYPE_ALIAS_TEMPLATE_DECL, K.USING_DIRECTIVE,
          K.USING_DECLARATION, K.CONCEPT_DECL if hasattr(K, "CONCEPT_DECL") else K.STATIC_ASSERT}


def head(file, cursor):
    """What stands before the body or the value of a declaration."""
    begin, end = extent(cursor)
    text = file.text(begin, end)
    return re.split(r"[{=]", text, maxsplit=1)[0]


def visit(file, cursor, parent, function, inside):
    """`inside` = within a function body, where values are worked out at run time."""
    kind = cursor.kind
    if kind in OPAQUE:
        return
    if kind in FUNCTIONS or kind == K.VAR_DECL or kind == K.FIELD_DECL:
        if re.search(r"\b(constexpr|consteval|constinit)\b", head(file, cursor)):
            return
    if kind in FUNCTIONS:
        function = cursor.spelling
        for child in cursor.get_children():
            if child.kind == K.COMPOUND_STMT:
                visit(file, child, cursor, function, True)
            elif not child.kind.is_declaration() and not child.kind.is_reference() and not child.kind.is_attribute():
                visit(file, child, cursor, function, True)  # what members are initialised with
        return
    if inside or kind == K.LAMBDA_EXPR:
        collect(file, cursor, parent, function)
    children = list(cursor.get_children())
    if kind == K.LAMBDA_EXPR:
        if re.search(r"\]\s*(\([^)]*\))?\s*constexpr", file.text(*extent(cursor))[:200]):
            return
        for child in children:
            if child.kind == K.COMPOUND_STMT:
                visit(file, child, cursor, function, True)
        return
    if kind == K.CASE_STMT:
        children = children[1:]
    if kind == K.IF_STMT and re.match(r"if\s+constexpr", file.text(*extent(cursor))):
        children = children[1:]
    if kind == K.VAR_DECL and (kind_of(cursor) == T.CONSTANTARRAY):
        children = [c for c in children if c.kind == K.INIT_LIST_EXPR]
    for child in children:
        if child.kind in (K.TEMPLATE_REF, K.TYPE_REF, K.NAMESPACE_REF):
            continue
        visit(file, child, cursor, function, inside)


def is_relation(file, condition):
    """Whose negation is another kind's mutant."""
    while condition.kind == K.UNEXPOSED_EXPR and len(list(condition.get_children())) == 1:
        condition = next(condition.get_children())
    children = list(condition.get_children())
    return condition.kind == K.BINARY_OPERATOR and len(children) == 2 and operator_between(file, *children)[0] in NEGATED


def add(file, cursor, kind, pieces, shown, how="expression", span=None, function=""):
    begin, end = span or extent(cursor)
    if file.data[begin:end].strip() == b"":
        return
    file.points.append(Point(file.name, cursor.extent.start.line, kind, begin, end, pieces, shown, how, function))


def short(text):
    text = re.sub(r"\s+", " ", text).strip()
    return text if len(text) <= 90 else text[:87] + "..."


def collect(file, cursor, parent, function):
    kind = cursor.kind
    children = list(cursor.get_children())
    if kind in (K.BINARY_OPERATOR, K.COMPOUND_ASSIGNMENT_OPERATOR) and len(children) == 2:
        left, right = children
        operator, at = operator_between(file, left, right)
        begin, end = extent(cursor)
        if operator:
            def swapped(kind_name, other):
                pieces = [(begin, at), other, (at + len(operator), end)]
                shown = short(file.text(begin, at) + other + file.text(at + len(operator), end))
                add(file, cursor, kind_name, pieces, f"{short(file.text(begin, end))} -> {shown}", function=function)
            numbers = kind_of(left) in NUMBERS and kind_of(right) in NUMBERS
            if operator in RELATIONS:
                swapped("boundary", RELATIONS[operator])
            if operator in NEGATED:
                swapped("relation", NEGATED[operator])
            if operator in LOGICAL:
                swapped("logical", LOGICAL[operator])
            if operator in ARITHMETIC and numbers and not (operator == "%" and kind_of(left) not in INTEGERS):
                other = ARITHMETIC[operator]
                if parent is not None and parent.kind == K.FOR_STMT and kind == K.COMPOUND_ASSIGNMENT_OPERATOR:
                    return
                swapped("arithmetic", other)
    if kind in (K.IF_STMT, K.WHILE_STMT, K.CONDITIONAL_OPERATOR) and children:
        condition = children[0]
        constant = kind == K.IF_STMT and re.match(r"if\s+constexpr", file.text(*extent(cursor)))
        if not constant and not condition.kind.is_declaration() and condition.kind != K.DECL_STMT and condition.kind.is_expression() and not is_relation(file, condition):
            text = file.text(*extent(condition))
            add(file, condition, "condition", ["!static_cast<bool>(", extent(condition), ")"], f"{short(text)} -> !({short(text)})",
                how="condition", function=function)
    if kind in (K.INTEGER_LITERAL, K.FLOATING_LITERAL):
        text = file.text(*extent(cursor))
        if re.fullmatch(r"[0-9][0-9'.]*(e[-+]?[0-9]+)?[uUlLzZfF]*", text):
            add(file, cursor, "constant", [f"{text} + 1"], f"{text} -> {text} + 1 in `{around(file, cursor)}`", function=function)
    if parent is not None and statement_place(cursor, parent):
        expression = cursor
        while expression.kind == K.UNEXPOSED_EXPR and len(list(expression.get_children())) == 1:
            expression = next(expression.get_children())
        text = file.text(*extent(cursor))
        assigns = expression.kind == K.COMPOUND_ASSIGNMENT_OPERATOR or (
            expression.kind == K.BINARY_OPERATOR and "=" in text) or (
            expression.kind == K.UNARY_OPERATOR and re.match(r"(\+\+|--)|.*(\+\+|--)$", text, re.S))
        calls = expression.kind == K.CALL_EXPR and text.endswith(")") and expression.spelling not in INVISIBLE
        if assigns or calls:
            add(file, cursor, "statement", [], f"`{short(text)};` removed", how="removed", function=function)
    if kind == K.RETURN_STMT and children:
        value = children[0]
        begin, end = extent(cursor)
        after = re.compile(rb"\s*;").match(file.data, end)
        if not after:
            return
        span = (begin, after.end())
        text = file.text(*extent(value))
        canonical = kind_of(value)
        if canonical == T.BOOL:
            add(file, cursor, "return", ["return !static_cast<bool>(", extent(value), ");"],
                f"return {short(text)} -> return !({short(text)})", "return", span, function)
        elif canonical in NUMBERS:
            add(file, cursor, "return", ["return (", extent(value), ") + 1;"],
                f"return {short(text)} -> return ({short(text)}) + 1", "return", span, function)
        elif canonical in (T.RECORD, T.POINTER):
            if text.strip() not in ("{}", "nullptr"):
                add(file, cursor, "return", ["return {};"], f"return {short(text)} -> return {{}}", "return", span, function)


def around(file, cursor):
    begin, end = extent(cursor)
    start = file.data.rfind(b"\n", 0, begin) + 1
    stop = file.data.find(b"\n", end)
    return short(file.text(start, stop))


def statement_place(cursor, parent):
    if not cursor.kind.is_expression():
        return False
    if parent.kind == K.COMPOUND_STMT:
        return True
    children = list(parent.get_children())
    if parent.kind == K.IF_STMT:
        return cursor != children[0] and any(cursor == c for c in children[1:])
    if parent.kind in (K.WHILE_STMT, K.FOR_STMT, K.CXX_FOR_RANGE_STMT):
        return cursor == children[-1]
    if parent.kind in (K.CASE_STMT, K.DEFAULT_STMT):
        return cursor == children[-1]
    return False


def points_of(root, name, arguments, index):
    path = os.path.join(root, name)
    unit = index.parse(path, args=arguments)
    if any(d.severity == cindex.Diagnostic.Fatal for d in unit.diagnostics):
        raise SystemExit(f"{name}: clang does not read it: {[d for d in unit.diagnostics if d.severity >= 3][0]}")
    return walk_file(File(unit, path, name))

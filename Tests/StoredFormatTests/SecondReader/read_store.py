#!/usr/bin/env python3
"""An independent reader of a store, which implements and so checks docs/format.md.

    read_store.py FOLDER

Prints each record of each model as one line of JSON; the ranges of a download as pairs of their
start and end. Checks everything that the page says can be
checked, and prints each problem as a line on standard error. Needs Python 3.11 and the package
lmdb.

Exit status: 0 if the store is valid, 65 if it is damaged or of a later version, 66 if there is no
store, 64 for wrong usage.
"""

import json
import math
import os
import re
import struct
import sys
import uuid

import lmdb

FORMAT = 1
CODING_VERSION = 1
KEYED_LAYOUT_VERSION = 2
REPLACEMENTS_VERSION = 2
LONGEST_CONTENT = 440


class Damage(Exception):
    """Bytes that do not match the format."""


class TooNew(Exception):
    """Bytes of a later format version."""


# XXH64

MASK = (1 << 64) - 1
PRIMES = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)


def rotate(value, count):
    return ((value << count) | (value >> (64 - count))) & MASK


def mix(lane, word):
    return rotate((lane + word * PRIMES[1]) & MASK, 31) * PRIMES[0] & MASK


def xxh64(data, seed=0):
    p1, p2, p3, p4, p5 = PRIMES
    at = 0
    if len(data) >= 32:
        lanes = [seed + p1 + p2, seed + p2, seed, seed - p1]
        lanes = [lane & MASK for lane in lanes]
        while at + 32 <= len(data):
            words = struct.unpack_from("<4Q", data, at)
            lanes = [mix(lane, word) for lane, word in zip(lanes, words)]
            at += 32
        result = sum(rotate(lane, n) for lane, n in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            result = ((result ^ mix(0, lane)) * p1 + p4) & MASK
    else:
        result = (seed + p5) & MASK
    result = (result + len(data)) & MASK
    while at + 8 <= len(data):
        (word,) = struct.unpack_from("<Q", data, at)
        result = (rotate(result ^ mix(0, word), 27) * p1 + p4) & MASK
        at += 8
    if at + 4 <= len(data):
        (word,) = struct.unpack_from("<I", data, at)
        result = (rotate(result ^ (word * p1 & MASK), 23) * p2 + p3) & MASK
        at += 4
    for byte in data[at:]:
        result = rotate(result ^ (byte * p5 & MASK), 11) * p1 & MASK
    result = (result ^ (result >> 33)) * p2 & MASK
    result = (result ^ (result >> 29)) * p3 & MASK
    return result ^ (result >> 32)


# Bytes


class Bytes:
    """A reader of consecutive values."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    @property
    def left(self):
        return len(self.data) - self.at

    def take(self, count):
        if count > self.left:
            raise Damage("bytes are missing")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, code):
        return struct.unpack("<" + code, self.take(struct.calcsize("<" + code)))[0]

    def varint(self):
        found = 0
        for shift in range(0, 70, 7):
            byte = self.number("B")
            found |= (byte & 0x7F) << shift
            if byte < 0x80 and found >> 64 == 0:
                return found
        raise Damage("a number has more than 64 bits")

    def sized_string(self):
        return string(self.take(self.number("I")))


def string(data):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Damage("a string is not UTF-8") from error


# Types

SCALARS = {
    "bool": (1, None),
    "int8": (1, "b"),
    "int16": (2, "h"),
    "int32": (4, "i"),
    "int64": (8, "q"),
    "uint8": (1, "B"),
    "uint16": (2, "H"),
    "uint32": (4, "I"),
    "uint64": (8, "Q"),
    "float": (4, "f"),
    "double": (8, "d"),
    "date": (8, "d"),
    "uuid": (16, None),
    "decimal": (19, None),
    "string": (None, None),
    "data": (None, None),
}


def parse_type(name):
    """Returns a type as a tuple of its kind and its element types."""
    if name in SCALARS:
        return (name,)
    found = re.fullmatch(r"(array|set)<(.*)>", name, re.DOTALL)
    if found:
        return (found[1], parse_type(found[2]))
    found = re.fullmatch(r"dictionary<([^,]*),(.*)>", name, re.DOTALL)
    if found:
        return ("dictionary", parse_type(found[1]), parse_type(found[2]))
    if name.startswith("embedded "):
        return ("embedded", name.removeprefix("embedded "))
    raise TooNew(f"the type {name!r} is not known")


def width(kind):
    return SCALARS[kind[0]][0] if kind[0] in SCALARS else None


def take_sized(reader, kind):
    size = width(kind)
    return reader.take(reader.number("I") if size is None else size)


def elements(data, kind):
    """Returns the bytes of each element of an array or a set."""
    reader = Bytes(data)
    return [take_sized(reader, kind[1]) for _ in range(reader.number("I"))]


def entries(data, kind):
    """Returns the bytes of each key and value of a dictionary."""
    reader = Bytes(data)
    return [
        (take_sized(reader, kind[1]), take_sized(reader, kind[2]))
        for _ in range(reader.number("I"))
    ]


def embedded_attempt(reader):
    return {
        "at": number(reader.number("d")),
        "url": reader.sized_string(),
        "code": reader.sized_string(),
        "message": reader.sized_string(),
        "received": reader.number("q"),
        "detail": reader.sized_string(),
    }


def embedded_file_stamp(reader):
    return {
        "size": reader.number("q"),
        "inode": reader.number("Q"),
        "modified": reader.number("q"),
    }


def embedded_finished_version(reader):
    return {
        "entityTag": reader.sized_string(),
        "lastModified": reader.sized_string(),
        "validatorOrigin": reader.sized_string(),
        "verifiedDigest": reader.sized_string(),
        "completedAt": number(reader.number("d")),
        "hasPieceDigests": reader.number("B") == 1,
        "awaitsHook": reader.number("B") == 1,
        "awaitsWebhook": reader.left > 0 and reader.number("B") == 1,
    }


def embedded_kept_version(reader):
    version = {"number": reader.number("i"), "filename": reader.sized_string()}
    version["identity"] = embedded_file_stamp(Bytes(reader.take(reader.number("I"))))
    return version


def embedded_header_field(reader):
    return {"name": reader.sized_string(), "value": reader.sized_string()}


EMBEDDED = {
    "Attempt": embedded_attempt,
    "FileIdentity": embedded_file_stamp,
    "FinishedVersion": embedded_finished_version,
    "HeaderField": embedded_header_field,
    "KeptVersion": embedded_kept_version,
}


def number(value):
    """Returns the number, or a string for infinity and NaN, which JSON does not support."""
    return value if math.isfinite(value) else repr(value)


def value(data, kind):
    """Returns the value for JSON: bytes as hexadecimal digits, dates as seconds."""
    name = kind[0]
    size = width(kind)
    if size is not None and len(data) != size:
        raise Damage(f"a value of {name} has {len(data)} bytes")
    match name:
        case "bool":
            if data[0] > 1:
                raise Damage("a Boolean is neither 0 nor 1")
            return data[0] == 1
        case "uuid":
            return str(uuid.UUID(bytes=data))
        case "decimal":
            return decimal(data)
        case "string":
            return string(data)
        case "data":
            return data.hex()
        case "array":
            return [value(element, kind[1]) for element in elements(data, kind)]
        case "set":
            found = elements(data, kind)
            # The stored form: elements of variable size are preceded by their lengths.
            stored = [sized(element, kind[1]) for element in found]
            if stored != sorted(stored) or has_duplicates(found, kind[1]):
                raise Damage("a set is not sorted, or has an element twice")
            return [value(element, kind[1]) for element in found]
        case "dictionary":
            found = entries(data, kind)
            stored = [sized(key, kind[1]) + sized(item, kind[2]) for key, item in found]
            if stored != sorted(stored) or has_duplicates([key for key, _ in found], kind[1]):
                raise Damage("a dictionary is not sorted, or has a key twice")
            pairs = [(value(key, kind[1]), value(item, kind[2])) for key, item in found]
            return dict(pairs) if kind[1] == ("string",) else [list(pair) for pair in pairs]
        case "embedded":
            decode = EMBEDDED.get(kind[1])
            return decode(Bytes(data)) if decode else data.hex()
    found = struct.unpack("<" + SCALARS[name][1], data)[0]
    return number(found) if isinstance(found, float) else found


def decimal(data):
    """Returns the number as a string, because JSON readers would round it."""
    head, high, low, last = struct.unpack(">HQQB", data)
    is_negative = 0 < head < 32768
    if is_negative:
        head, high, low, last = struct.unpack(">HQQB", bytes(byte ^ 0xFF for byte in data))
    if head in (0, 32768):
        if high or low or last:
            raise Damage("a zero or NaN decimal has digits")
        return "0" if head else "nan"
    if not 10**18 <= high < 10**19 or low >= 10**19 or last > 9:
        raise Damage("a decimal has invalid digits")
    digits = f"{high:019}{low:019}{last}".rstrip("0")
    return f"{'-' if is_negative else ''}{digits}e{head - 33280 - len(digits)}"


# Downloads

LONGEST_RANGE_LIST = 256


def shortest_number(reader):
    """Returns an unsigned LEB128 number of at most 63 bits in its shortest form."""
    start = reader.at
    found = reader.varint()
    if found >> 63 or reader.at - start > max(1, (found.bit_length() + 6) // 7):
        raise Damage("a number is too long")
    return found


def counted_ranges(data, received, expected):
    """Returns the start and the end of each range of a partial file that counts.

    That is none if the field is invalid or contradicts the other fields of the record.
    """
    reader = Bytes(data)
    found = []
    end = 0
    try:
        while reader.left:
            gap, length = shortest_number(reader), shortest_number(reader)
            if length == 0 or (gap == 0 and found):
                return []
            found.append([end + gap, end + gap + length])
            end = found[-1][1]
    except Damage:
        return []
    is_prefix = len(found) == 1 and found[0][0] == 0
    is_valid = 0 < len(found) <= LONGEST_RANGE_LIST and end < 1 << 63 and not is_prefix
    total = sum(upper - lower for lower, upper in found)
    if not is_valid or total != received or (expected is not None and end > expected):
        return []
    return found


def has_duplicates(found, kind):
    """Returns whether a value is repeated. NaN may be, so floating-point values are ignored."""
    return kind[0] not in ("float", "double", "date") and len(set(found)) != len(found)


def sized(data, kind):
    return data if width(kind) is not None else struct.pack("<I", len(data)) + data


# Index keys


def fnv1a(data):
    found = 2166136261
    for byte in data:
        found = (found ^ byte) * 16777619 & 0xFFFFFFFF
    return found | 0x80000000


def escaped(data, longest):
    content = bytearray()
    for byte in data:
        piece = b"\0\xff" if byte == 0 else bytes([byte])
        if len(content) + len(piece) > longest:
            return bytes(content) + b"\0\1" + struct.pack(">Q", xxh64(data))
        content += piece
    return bytes(content) + b"\0\0"


def index_content(data, kind, longest):
    name = kind[0]
    if name in ("bool", "uuid", "decimal"):
        return data
    if name in ("string", "data"):
        return escaped(data, longest)
    content = bytearray(reversed(data))
    if name in ("float", "double", "date"):
        if content[0] == 0x80 and not any(content[1:]):
            content[0] = 0
        if content[0] & 0x80:
            return bytes(byte ^ 0xFF for byte in content)
        content[0] ^= 0x80
    elif name.startswith("int"):
        content[0] ^= 0x80
    elif not name.startswith("uint"):
        raise Damage(f"an index on {name}, which cannot be indexed")
    return bytes(content)


class Index:
    """An index description: the ids and types of its fields."""

    def __init__(self, index_id, data):
        reader = Bytes(data)
        if reader.number("B") != CODING_VERSION:
            raise TooNew("an index has a later coding")
        flags = reader.number("B")
        self.is_unique = flags == 1
        self.fields = [
            (reader.number("I"), parse_type(reader.sized_string()))
            for _ in range(reader.number("H"))
        ]
        ids = [field for field, _ in self.fields]
        collections = [kind for _, kind in self.fields if kind[0] in ("array", "set")]
        if reader.left or flags > 1 or not 1 <= len(ids) <= 8 or len(set(ids)) != len(ids):
            raise Damage("the description of an index is invalid")
        if len(collections) > 1:
            raise Damage("an index has two collections")
        expected = ids[0] if len(ids) == 1 else fnv1a(b"".join(struct.pack("<I", i) for i in ids))
        if index_id != expected:
            raise Damage(f"an index has the id {index_id} instead of {expected}")
        widths = [width(self.element(kind)) for _, kind in self.fields]
        fixed = sum(size + 1 for size in widths if size is not None)
        variable = widths.count(None)
        self.longest = min(LONGEST_CONTENT, (503 - fixed) // variable - 11) if variable else 0

    @staticmethod
    def element(kind):
        return kind[1] if kind[0] in ("array", "set") else kind

    def pieces(self, data, kind):
        """Returns the key parts of one field: one part, or one part for each element."""
        if kind[0] in ("array", "set"):
            found = set(elements(data, kind)) if data is not None else set()
            return {b"\1" + index_content(one, kind[1], self.longest) for one in found}
        if data is None:
            return {b"\0"}
        return {b"\1" + index_content(data, kind, self.longest)}

    def keys(self, values):
        """Returns the keys of a record without the object id, and whether no field is nil."""
        found = {b""}
        for field, kind in self.fields:
            pieces = self.pieces(values.get(field), kind)
            found = {start + piece for start in found for piece in pieces}
        is_complete = all(values.get(field) is not None for field, _ in self.fields)
        return found, is_complete


# Columns

COLUMN_CODING_VERSION = 2
SLOTS = 240


def is_column(data):
    return data[:1] == bytes([COLUMN_CODING_VERSION])


class Column:
    """A column description: the id and type of its field."""

    def __init__(self, column_id, data):
        reader = Bytes(data)
        if reader.number("B") != COLUMN_CODING_VERSION or reader.number("B") != 1:
            raise TooNew("a column has a later coding")
        self.field = reader.number("I")
        self.type_name = reader.sized_string()
        self.width = width(parse_type(self.type_name))
        if reader.left or self.type_name in ("uuid", "decimal") or self.width is None:
            raise Damage("the description of a column is invalid")
        expected = fnv1a(struct.pack("<II", self.field, self.field))
        if column_id != expected:
            raise Damage(f"a column has the id {column_id} instead of {expected}")

    def chunk(self, data, number):
        """Returns the contents by object id, None without a value."""
        if len(data) != 68 + SLOTS * self.width:
            raise Damage("a column chunk has a wrong size")
        if struct.unpack_from("<I", data)[0] != xxh64(data[4:], number ^ self.field << 32) & 0xFFFFFFFF:
            raise Damage("the checksum does not match")
        objects = int.from_bytes(data[4:36], "little")
        values = int.from_bytes(data[36:68], "little")
        if objects == 0 or objects >> SLOTS or values & ~objects:
            raise Damage("the bits of a column chunk are invalid")
        found = {}
        for slot in range(SLOTS):
            content = data[68 + slot * self.width : 68 + (slot + 1) * self.width]
            if not values >> slot & 1 and any(content):
                raise Damage(f"slot {slot} has no value but bytes")
            if objects >> slot & 1:
                found[SLOTS * number + slot] = content if values >> slot & 1 else None
        return found


# Layouts and records


class Field:
    def __init__(self, reader):
        self.id = reader.number("I")
        self.flags = reader.number("B")
        self.name = reader.sized_string()
        self.type_name = reader.sized_string()
        self.type = parse_type(self.type_name)
        self.is_optional = bool(self.flags & 1)
        self.is_hot = bool(self.flags & 2)
        self.is_key = bool(self.flags & 4)


class Layout:
    def __init__(self, data):
        reader = Bytes(data)
        version = reader.number("B")
        if version not in (CODING_VERSION, KEYED_LAYOUT_VERSION):
            raise TooNew("a layout has a later coding")
        self.is_keyed = version == KEYED_LAYOUT_VERSION
        self.fields = [Field(reader) for _ in range(reader.number("H"))]
        keys = [field for field in self.fields if field.is_key]
        if len(keys) != 1 or keys[0].is_optional or keys[0].is_hot:
            raise Damage("a layout does not have one primary key")
        self.key = keys[0]
        for names in ([f.id for f in self.fields], [f.name for f in self.fields]):
            if len(set(names)) != len(names):
                raise Damage("a layout has a repeated field")
        self.cold = [field for field in self.fields if not field.is_hot]
        self.hot = [field for field in self.fields if field.is_hot]
        if self.is_keyed and self.hot:
            raise Damage("a model that is stored by key has a hot field")


def home_id(hash_value):
    """Returns the id that follows from the hash of a key, in a model that is stored by key."""
    return max(1, hash_value & (MASK >> 1))


def header(part):
    if len(part) < 8:
        raise Damage("the cold part has no header")
    checksum, layout, coding, flags = struct.unpack_from("<IHBB", part)
    if coding != CODING_VERSION:
        raise TooNew("a record has a later coding")
    return checksum, layout, flags


def read_cold(part, fields, object_id):
    """Returns the bytes of each field of the cold part, None for nil, and the extras."""
    checksum, _, flags = header(part)
    if checksum != xxh64(part[4:], object_id) & 0xFFFFFFFF:
        raise Damage("the checksum does not match")
    values, rest = read_fields(part[8:], fields)
    if bool(rest) != (flags == 1) or flags > 1:
        raise Damage("the cold part does not end with its heap")
    return values, rest


def read_hot(part, fields):
    values, rest = read_fields(part, fields)
    if rest:
        raise Damage("the hot part does not end with its heap")
    return values


def read_fields(part, fields):
    """Returns the bytes of each field of a part, None for nil, and the bytes after the heap."""
    reader = Bytes(part)
    presence = int.from_bytes(reader.take((len(fields) + 7) // 8), "little")
    if presence >> len(fields):
        raise Damage("there are more values than fields")
    slots = [reader.take(width(field.type) or 0) for field in fields]
    ends = [reader.number("I") if width(field.type) is None else None for field in fields]
    start = 0
    values = {}
    for position, (field, slot, end) in enumerate(zip(fields, slots, ends)):
        is_present = presence >> position & 1
        if end is None:
            data = slot
        else:
            if end < start:
                raise Damage("the end offsets decrease")
            data = reader.take(end - start)
            start = end
        if not is_present and (any(data) if end is None else data):
            raise Damage(f"{field.name} is nil but has bytes")
        if not is_present and not field.is_optional:
            raise Damage(f"{field.name} has no value")
        values[field.id] = data if is_present else None
    return values, reader.take(reader.left)


def read_chunk(data, number):
    """Returns the hot parts of a chunk, by object id: layout number and bytes."""
    if len(data) < 12:
        raise Damage("a chunk has no header")
    checksum, presence, layout, size = struct.unpack_from("<IIHH", data)
    if checksum != xxh64(data[4:], number) & 0xFFFFFFFF:
        raise Damage("the checksum does not match")
    objects = [32 * number + bit for bit in range(32) if presence >> bit & 1]
    if not objects:
        raise Damage("a chunk is empty")
    reader = Bytes(data)
    reader.take(12)
    if size:
        if size < 5:
            raise Damage("the parts of a chunk have no bytes")
        parts = [(reader.number("I"), layout, reader.take(size - 4)) for _ in objects]
    else:
        if layout:
            raise Damage("a chunk has a common layout but no common size")
        ends = [0] + [reader.number("I") for _ in objects]
        sizes = [end - start for start, end in zip(ends, ends[1:])]
        if min(sizes) < 6:
            raise Damage("the end offsets of a chunk decrease")
        parts = [(reader.number("I"), reader.number("H"), reader.take(size - 6)) for size in sizes]
        shapes = {(layout, len(part)) for _, layout, part in parts}
        if len(shapes) == 1 and 0 < len(parts[0][2]) <= 0xFFFF - 4:
            raise Damage("the parts of a chunk have one size, but the chunk has no common size")
    if reader.left:
        raise Damage("a chunk does not end with its last part")
    found = {}
    for object_id, (checksum, layout, part) in zip(objects, parts):
        if checksum != xxh64(part, object_id ^ layout << 48) & 0xFFFFFFFF:
            raise Damage(f"the checksum of the part of object {object_id} does not match")
        found[object_id] = (layout, part)
    return found


def read_extras(data, known):
    reader = Bytes(data)
    values = {}
    types = {}
    while reader.left:
        field = reader.number("I")
        is_present = reader.number("B")
        types[field] = parse_type(reader.sized_string())
        content = reader.take(reader.number("I"))
        if field in known or field in values or is_present > 1 or (content and not is_present):
            raise Damage("the extras are invalid")
        values[field] = content if is_present else None
    return values, types


class Default:
    """The value of a field in the objects without one."""

    def __init__(self, data):
        reader = Bytes(data)
        if reader.number("B") != CODING_VERSION:
            raise TooNew("a default has a later coding")
        flags = reader.number("B")
        self.is_used = bool(flags & 1)
        self.replaces_nil = bool(flags & 2)
        self.type_name = reader.sized_string()
        self.type = parse_type(self.type_name)
        self.data = reader.take(reader.number("I"))
        if reader.left or flags > 3 or width(self.type) not in (None, len(self.data)):
            raise Damage("a default is invalid")
        value(self.data, self.type)


class Model:
    """A model of a store: its layouts, indexes and records."""

    def __init__(self, store, name, layouts):
        self.store = store
        self.name = name
        self.layouts = layouts
        if len({layout.is_keyed for layout in layouts.values()}) != 1:
            raise Damage(f"the layouts of {name} disagree about how it is stored")
        self.is_keyed = layouts[1].is_keyed
        self.root = f"{name}/keyed" if self.is_keyed else name
        self.names = {f.id: f.name for n in sorted(layouts) for f in layouts[n].fields}
        self.types = {}
        for layout in layouts.values():
            for field in layout.fields:
                declaration = (field.type_name, field.is_key)
                if self.types.setdefault(field.id, declaration) != declaration:
                    raise Damage(f"the layouts of {name} have different types for {field.name}")
        self.defaults = {}
        prefix = f"default/{name}/"
        for key, data in store.description.items():
            if not key.startswith(prefix):
                continue
            field = int(key.removeprefix(prefix))
            self.defaults[field] = default = Default(data)
            if field in self.types and self.types[field] != (default.type_name, False):
                raise Damage(f"{key} has another type than its field")
        self.check_references()
        self.indexes = {}
        self.columns = {}
        prefix = f"index/{name}/"
        for key, data in store.description.items():
            if not key.startswith(prefix):
                continue
            index_id = int(key.removeprefix(prefix))
            if is_column(data):
                column = Column(index_id, data)
                if self.types.get(column.field, (column.type_name,))[0] != column.type_name:
                    raise Damage(f"a column of {name} has another type than its field")
                self.columns[column.field] = column
                continue
            index = Index(index_id, data)
            for field, kind in index.fields:
                if field in self.types and parse_type(self.types[field][0]) != kind:
                    raise Damage(f"an index of {name} has another type for {self.names[field]}")
            self.indexes[index_id] = index
        # The ids from which on entries of an index may be missing.
        self.builds = {}
        prefix = f"build/{name}/"
        for key, data in store.description.items():
            if not key.startswith(prefix):
                continue
            index_id = int(key.removeprefix(prefix))
            reader = Bytes(data)
            if reader.number("B") != CODING_VERSION:
                raise TooNew("a build of an index has a later coding")
            self.builds[index_id] = reader.number("Q")
            reader.number("Q")
            if index_id in self.indexes:
                raise Damage(f"index {index_id} is complete and is being built")
            self.indexes[index_id] = Index(index_id, reader.take(reader.left))
        self.check_outdated()
        floor = store.description.get(f"floor/{name}")
        if floor is not None and len(floor) < 8:
            raise Damage(f"floor/{name} is truncated")

    def check_outdated(self):
        """Reads the layouts whose records a migration converts, and the position before which none is."""
        self.outdated = {}
        self.converted = 0
        self.changed = set()
        data = self.store.description.get(f"outdated/{self.name}")
        if data is None:
            return
        reader = Bytes(data)
        if reader.number("B") != CODING_VERSION:
            raise TooNew("the outdated layouts have a later coding")
        for _ in range(reader.number("H")):
            version = reader.number("I")
            for _ in range(reader.number("H")):
                number = reader.number("H")
                if number not in self.layouts:
                    raise Damage(f"the outdated layout {number} of {self.name} is missing")
                self.outdated[number] = version
            for _ in range(reader.number("H")):
                field, original = reader.number("I"), reader.number("I")
                reader.sized_string()
                if field not in self.types:
                    raise Damage(f"an outdated field of {self.name} is in no layout")
                if field != original and not self.names[field].rstrip("'").endswith(f"@{version}"):
                    raise Damage(f"an outdated field of {self.name} has no version in its name")
        changed = [reader.number("I") for _ in range(reader.number("H"))]
        self.changed = set(changed)
        for _ in range(reader.number("H")):
            reader.number("I")
        self.converted = reader.number("Q") if self.outdated else 1 << 64
        for index_id, index in self.indexes.items():
            if self.outdated and any(field in changed for field, _ in index.fields):
                raise Damage(f"index {index_id} is over a field that is not converted")

    def check_references(self):
        prefix = f"reference/{self.name}/"
        for key, data in self.store.description.items():
            if key.startswith(prefix):
                reader = Bytes(data)
                if reader.number("B") != CODING_VERSION or not 1 <= reader.number("B") <= 4:
                    raise TooNew("a reference has a later coding")
                reader.sized_string()
                if reader.left or f"index/{self.name}/{key.removeprefix(prefix)}" not in (
                    self.store.description
                ):
                    raise Damage(f"{key} is invalid or has no index")

    def read(self):
        store = self.store
        cold = store.integers(self.root)
        hot, is_readable = self.hot_parts()
        keys = {}
        wanted = {index: set() for index in self.indexes}
        taken = {index: {} for index in self.indexes}
        contents = {field: {} for field in self.columns}
        used = set()
        primary_keys = set()
        for object_id, part in cold.items():
            try:
                if object_id == 0:
                    raise Damage("its id is 0")
                layout_number = header(part)[1]
                layout = self.layouts.get(layout_number)
                if layout is None:
                    raise Damage("its layout is missing")
                if layout_number in self.outdated and object_id < self.converted:
                    raise Damage("it is outdated, before the position of the conversion")
                if layout_number not in self.outdated and "@" in layout.key.name:
                    raise Damage("its layout is one that no record has any more")
                if layout.hot:
                    used.add(object_id)
                values, types = self.record(object_id, part, hot.get(object_id), layout)
                shown = self.with_defaults(values, layout_number, lambda default: True)
                types = {field: default.type for field, default in self.defaults.items()} | types
                line = {
                    self.names.get(field, f"#{field}"): None
                    if data is None
                    else value(data, types[field])
                    for field, data in shown.items()
                }
                if self.name == "DownloadRecord" and line.get("ranges") is not None:
                    line["ranges"] = counted_ranges(
                        bytes.fromhex(line["ranges"]), line["received"], line["expected"]
                    )
                key = values[layout.key.id]
                if key in primary_keys:
                    raise Damage("another object has the same primary key")
                primary_keys.add(key)
                hash_value = xxh64(key, store.seed)
                if not self.is_keyed or object_id != home_id(hash_value):
                    keys.setdefault(hash_value, []).append(object_id)
                indexed = self.with_defaults(values, layout_number, lambda default: default.is_used)
                for field in self.columns:
                    contents[field][object_id] = indexed.get(field)
                for number, index in self.indexes.items():
                    found, is_complete = index.keys(indexed)
                    wanted[number] |= {one + struct.pack(">Q", object_id) for one in found}
                    if not index.is_unique or not is_complete:
                        continue
                    for one in found:
                        other = taken[number].setdefault(one, object_id)
                        if other != object_id:
                            raise Damage(f"object {other} has its values in unique index {number}")
            except Damage as damage:
                store.report(f"object {object_id} of {self.name}: {damage}")
                is_readable = False
                continue
            store.lines += 1
            print(
                json.dumps(
                    {
                        "fields": line,
                        "layout": layout_number,
                        "model": self.name,
                        "object": object_id,
                    },
                    sort_keys=True,
                    allow_nan=False,
                )
            )
        # The entries that belong to an unreadable record are unknown.
        if not is_readable:
            return
        for object_id in hot.keys() - used:
            store.report(f"object {object_id} of {self.name}: a hot part without a record")
        self.check_keys(keys)
        self.check_indexes(wanted)
        self.check_columns(contents)

    def with_defaults(self, values, layout_number, is_applied):
        """Returns the values of an object, with the defaults of the fields that have none."""
        result = dict(values)
        for field, default in self.defaults.items():
            if not is_applied(default) or field not in self.names:
                continue
            if layout_number in self.outdated and field in self.changed:
                continue
            if field not in result or (result[field] is None and default.replaces_nil):
                result[field] = default.data
        return result

    def hot_parts(self):
        """Returns the hot parts by object id, and whether every chunk could be read."""
        parts = {}
        is_readable = True
        for number, data in self.store.integers(f"{self.root}/hot").items():
            try:
                parts |= read_chunk(data, number)
            except Damage as damage:
                self.store.report(f"chunk {number} of {self.root}/hot: {damage}")
                is_readable = False
        return parts, is_readable

    def record(self, object_id, cold, hot, layout):
        values, extras = read_cold(cold, layout.cold, object_id)
        if layout.hot:
            if hot is None:
                raise Damage("the hot part is missing")
            layout_number, part = hot
            if layout_number != header(cold)[1]:
                raise Damage("the two parts have different layouts")
            values |= read_hot(part, layout.hot)
        types = {field.id: field.type for field in layout.fields}
        more, more_types = read_extras(extras, values)
        return values | more, types | more_types

    def check_keys(self, wanted):
        found = {}
        for hash_value, data in self.store.integers(f"{self.root}/keys").items():
            if not data or len(data) % 8:
                self.store.report(f"{self.root}/keys: the entry {hash_value:016x} is truncated")
                continue
            found[hash_value] = sorted(struct.unpack(f"<{len(data) // 8}Q", data))
        for hash_value in sorted(found.keys() | wanted.keys()):
            actual, expected = found.get(hash_value, []), sorted(wanted.get(hash_value, []))
            if actual != expected:
                self.store.report(
                    f"{self.root}/keys: {hash_value:016x} has {actual}, not {expected}"
                )

    def check_indexes(self, wanted):
        store = self.store
        prefix = f"{self.root}/index/"
        for field, expected in wanted.items():
            table = f"{prefix}{field}"
            found = store.table(table, integers=False)
            if any(found.values()):
                store.report(f"{table}: an entry has a value")
            for key in sorted(expected - found.keys()):
                if struct.unpack(">Q", key[-8:])[0] < self.builds.get(field, 1 << 64):
                    store.report(f"{table}: the entry {key.hex()} is missing")
            for key in sorted(found.keys() - expected):
                store.report(f"{table}: the entry {key.hex()} belongs to no record")
        for table in store.tables:
            if table.startswith(prefix) and int(table.removeprefix(prefix)) not in self.indexes:
                if store.table(table, integers=False):
                    store.report(f"{table}: an index that is not listed has entries")


    def check_columns(self, wanted):
        store = self.store
        prefix = f"{self.name}/column/"
        for field, expected in wanted.items():
            table = f"{prefix}{field}"
            found = {}
            for number, data in store.integers(table).items():
                try:
                    found |= self.columns[field].chunk(data, number)
                except Damage as damage:
                    store.report(f"chunk {number} of {table}: {damage}")
            for object_id in sorted(expected.keys() | found.keys()):
                if object_id not in expected:
                    store.report(f"{table}: object {object_id} has no record")
                elif object_id not in found:
                    store.report(f"{table}: object {object_id} is missing")
                elif found[object_id] != expected[object_id]:
                    store.report(f"{table}: object {object_id} has another value")
        for table in store.tables:
            if table.startswith(prefix) and int(table.removeprefix(prefix)) not in self.columns:
                if store.integers(table):
                    store.report(f"{table}: a column that is not listed has chunks")


HISTORY = "store/history"
HISTORY_PIECE = 1984


def check_changes(reader, kinds):
    """Reads the changes of one commit, which has these kinds of changes, to the end."""
    while reader.left:
        string(reader.take(reader.varint()))
        reader.varint()
        last = 0
        for _ in range(reader.varint() - 1):
            kind = reader.number("B")
            step = reader.varint()
            last += step
            if kind not in kinds or step == 0 or last >> 64:
                raise Damage("a change is invalid")
            if kind == 2:
                reader.varint()
            elif kind in (3, 4):
                reader.take(reader.varint())


class Store:
    def __init__(self, environment, transaction):
        self.environment = environment
        self.transaction = transaction
        self.problems = 0
        self.lines = 0
        with transaction.cursor() as cursor:
            self.tables = {string(bytes(key)) for key in cursor.iternext(values=False)}
        self.description = {
            string(key): data for key, data in self.table("store", integers=False).items()
        }
        if self.number("format", "I") > FORMAT:
            raise TooNew("the storage format is a later one")
        self.seed = self.number("seed", "Q")
        self.number("epoch", "Q")

    def number(self, key, code):
        data = self.description.get(key)
        if data is None:
            raise Damage(f"the entry {key!r} of the store is missing")
        return Bytes(data).number(code)

    def table(self, name, integers):
        if name not in self.tables:
            raise Damage(f"the table {name!r} is missing")
        database = self.environment.open_db(
            name.encode(), txn=self.transaction, create=False, integerkey=integers
        )
        flags = database.flags(self.transaction)
        expected = {"integerkey": integers}
        if any(bool(on) != expected.get(flag, False) for flag, on in flags.items()):
            raise Damage(f"the table {name!r} has other flags: {flags}")
        with self.transaction.cursor(database) as cursor:
            return {bytes(key): bytes(data) for key, data in cursor}

    def integers(self, name):
        """Returns the entries of a table by integer key. Keys are in native byte order."""
        return {
            struct.unpack("=Q", key)[0]: data
            for key, data in self.table(name, integers=True).items()
        }

    def check_history(self):
        if HISTORY not in self.tables:
            return
        entries, pieces = {}, {}
        for key, data in sorted(self.integers(HISTORY).items()):
            number, piece = divmod(key, 4096)
            entry = entries.setdefault(number, bytearray())
            if piece != pieces.get(number, 0) or len(entry) != piece * HISTORY_PIECE:
                self.report(f"commit {number} of the history: a piece is missing")
            pieces[number] = piece + 1
            entry += data
        if len(entries.get(0, b"")) != 28:
            raise Damage("the history has no floor entry")
        _, _, commits, total = struct.unpack("<QIQQ", entries.pop(0))
        for number, data in sorted(entries.items()):
            reader = Bytes(bytes(data))
            version = reader.number("B")
            if version not in (CODING_VERSION, REPLACEMENTS_VERSION):
                raise TooNew("the history has a later coding")
            reader.number("I")
            commits += 1
            if reader.number("Q") != commits:
                self.report(f"commit {number} of the history: the commit sum is wrong")
            total += len(data)
            if reader.number("Q") != total:
                self.report(f"commit {number} of the history: the byte sum is wrong")
            try:
                check_changes(reader, (1, 2, 3) if version == CODING_VERSION else (1, 2, 3, 4))
            except Damage as damage:
                self.report(f"commit {number} of the history: {damage}")

    def models(self):
        layouts = {}
        for key, data in self.description.items():
            if key.startswith("layout/"):
                _, model, layout_number = key.split("/")
                layouts.setdefault(model, {})[int(layout_number)] = Layout(data)
        for name in sorted(layouts):
            if sorted(layouts[name]) != list(range(1, len(layouts[name]) + 1)):
                raise Damage(f"a layout of {name} is missing")
            yield Model(self, name, layouts[name])

    def report(self, problem):
        self.problems += 1
        print(f"damaged: {problem}", file=sys.stderr)


def read(folder):
    size = os.path.getsize(os.path.join(folder, "data.mdb"))
    with lmdb.open(
        folder, readonly=True, create=False, max_dbs=1024, map_size=2 * size + (1 << 30)
    ) as environment:
        with environment.begin() as transaction:
            store = Store(environment, transaction)
            store.check_history()
            for model in store.models():
                model.read()
            return store.problems


def main(arguments):
    if len(arguments) != 1:
        print("usage: read_store.py FOLDER", file=sys.stderr)
        return 64
    try:
        return 65 if read(arguments[0]) else 0
    except TooNew as error:
        print(f"too new: {error}", file=sys.stderr)
        return 65
    except (Damage, lmdb.Error, ValueError, struct.error) as error:
        print(f"damaged: {error}", file=sys.stderr)
        return 65
    except OSError as error:
        print(f"no store: {error}", file=sys.stderr)
        return 66


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

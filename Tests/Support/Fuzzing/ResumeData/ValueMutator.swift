internal import ResumeData

/// Mutates values of property lists, with strings that the readers search for.
struct ValueMutator {
  private var random: RandomChoices

  init(seed: UInt64) {
    random = RandomChoices(seed: seed)
  }

  private static let strings: [String] =
    URLSessionResumeData.Key.allCases.map(\.rawValue)
    + (0...25).map { "$\($0)" } + (0...22).map { "__nsurlrequest_proto_prop_obj_\($0)" } + [
      "__nsurlrequest_proto_props", "$null", "root", "NSKeyedArchiveRootObjectKey", "$objects",
      "$top",
      "$archiver", "NSKeyedArchiver", "$version", "$class", "$classname", "NS.keys", "NS.objects",
      "NS.base", "NS.relative", "NS.string", "NS.data", "CF$UID", "__hhaa__", "GET", "POST",
      "http://a/1", "https://b/?c#d", "../x", "/private/tmp/CFNetworkDownload_x.tmp", "x.tmp", "",
      "\"1\"", "W/\"1\"", "0-5", "Authorization", "ü€😀", "\u{1}", "\r",
    ]

  private static let integers: [Int128] = [
    0, 1, 2, 3, 4, 9, 16, 22, 23, -1, 255, 1 << 31, 1 << 62, 1 << 63, -(1 << 63), .max, .min,
    100_000, (1 << 63) - 1, -(1 << 63) - 1, (1 << 64) - 1, 1 << 64,
  ]

  /// Numbers for which a conversion to an integer, or the magnitude of the result, overflows.
  private static let reals: [Double] = [
    0, -0.0, 1.5, 1e9, -1e12, 1e300, .nan, .infinity, -.infinity, 0x1p62, 0x1p63, -0x1p63,
    (0x1p63).nextDown, (-0x1p63).nextDown, .greatestFiniteMagnitude, -.greatestFiniteMagnitude,
    .leastNonzeroMagnitude,
  ]

  private mutating func string() -> String { random.pick(Self.strings) }

  private mutating func scalar() -> PropertyList {
    switch random.number(10) {
    case 0: .null
    case 1: .bool(random.number(2) == 0)
    case 2, 3: .integer(random.pick(Self.integers))
    case 4: .real(random.pick(Self.reals))
    case 5: .date(random.pick(Self.reals))
    case 6: .data((0..<random.number(8)).map { UInt8($0) })
    case 7: .uid(UInt32(random.number(30)))
    default: .string(string())
    }
  }

  /// Returns a list in which one value at any depth is changed.
  mutating func changed(_ value: PropertyList) -> PropertyList {
    switch value {
    case .array(let values): return .array(changed(values))
    case .set(let values): return .set(changed(values))
    case .dictionary(let members): return .dictionary(changed(members))
    case .data(let bytes):
      // Requests are property lists inside data values.
      guard random.number(4) > 0, let list = try? PropertyList(bytes) else { return scalar() }
      let inner = changed(changed(list))
      return (try? inner.encoded(as: .binary)).map(PropertyList.data) ?? value
    case .uid(let uid):
      // Usually refers to another object, sometimes to a missing one.
      let limit = random.number(8) == 0 ? 1_000 : Int(uid) + 4
      return random.number(2) == 0 ? .uid(UInt32(random.number(limit))) : scalar()
    case .null, .bool, .integer, .real, .date, .string: return scalar()
    }
  }

  private mutating func changed(_ values: [PropertyList]) -> [PropertyList] {
    guard !values.isEmpty else { return [scalar()] }
    var values = values
    let index = random.number(values.count)
    switch random.number(12) {
    case 0: values.remove(at: index)
    case 1: values.append(values[index])
    case 2: values.swapAt(index, random.number(values.count))
    case 3: values[index] = .array([values[index]])
    case 4: values.insert(scalar(), at: index)
    default: values[index] = changed(values[index])
    }
    return values
  }

  private mutating func changed(_ members: PropertyListDictionary) -> PropertyListDictionary {
    var members = members
    guard !members.entries.isEmpty, random.number(12) > 0 else {
      members[string()] = scalar()
      return members
    }
    let entry = random.pick(members.entries)
    switch random.number(12) {
    case 0: members[entry.key] = nil
    case 1: members.rename(entry.key, to: string())
    case 2: members[string()] = entry.value
    case 3: members[entry.key] = .dictionary([entry.key: entry.value])
    case 4: members[entry.key] = scalar()
    default: members[entry.key] = changed(entry.value)
    }
    return members
  }
}

import Testing

@testable import ResumeData

struct BinaryPropertyListTests {
  // MARK: Values

  @Test(
    arguments: [
      ([0x00], .null), ([0x08], .bool(false)), ([0x09], .bool(true)),
      ([0x10, 0xFF], .integer(255)), ([0x11, 0x01, 0x00], .integer(256)),
      ([0x12, 0x80, 0, 0, 0], .integer(1 << 31)),
      ([0x13, 0x80, 0, 0, 0, 0, 0, 0, 0], .integer(Int128(Int64.min))),
      ([0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0], .integer(1 << 63)),
      ([0x22, 0x3F, 0xC0, 0, 0], .real(1.5)),
      ([0x23, 0x40, 0x4E, 0, 0, 0, 0, 0, 0], .real(60)),
      ([0x33, 0x40, 0x4E, 0, 0, 0, 0, 0, 0], .date(60)),
      ([0x42, 0xFF, 0x00], .data([0xFF, 0])), ([0x52, 0x61, 0x62], .string("ab")),
      ([0x62, 0x00, 0xFC, 0x20, 0xAC], .string("ü€")),
      ([0x62, 0xD8, 0x3D, 0xDE, 0x00], .string("😀")),
      ([0x80, 0x07], .uid(7)), ([0x83, 0xFF, 0xFF, 0xFF, 0xFF], .uid(.max)),
      ([0xA0], .array([])), ([0xC0], .set([])), ([0xD0], .dictionary([:])),
    ] as [([UInt8], PropertyList)]
  )
  func `each kind of value is read`(bytes: [UInt8], value: PropertyList) throws {
    #expect(try PropertyList(BinaryFile(bytes).bytes) == value)
  }

  @Test(
    arguments: [
      ([0x10, 0x00], .integer(0)), ([0x13, 0, 0, 0, 1, 0, 0, 0, 0], .integer(1 << 32)),
      ([0x13, 255, 255, 255, 255, 255, 255, 255, 255], .integer(-1)), ([0x81, 1, 0], .uid(256)),
      ([0x61, 0x00, 0xFC], .string("ü")), ([0x50], .string("")), ([0x40], .data([])),
      ([0x5F, 0x10, 15] + [UInt8](repeating: 0x61, count: 15), .string("aaaaaaaaaaaaaaa")),
      (
        [0x14, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255],
        .integer(1 << 64 - 1)
      ),
    ] as [([UInt8], PropertyList)]
  )
  func `a value is written in its shortest encoding`(bytes: [UInt8], value: PropertyList) throws {
    #expect(try value.encoded(as: .binary) == BinaryFile(bytes).bytes)
    #expect(try PropertyList(BinaryFile(bytes).bytes) == value)
  }

  @Test func `containers are read by object reference`() throws {
    let file = BinaryFile(
      [0xD2, 1, 2, 3, 4],
      [0x51, 0x61],
      [0x51, 0x62],
      [0xA2, 1, 1],
      [0xC1, 5],
      [0x09]
    )
    #expect(
      try PropertyList(file.bytes)
        == .dictionary(["a": .array([.string("a"), .string("a")]), "b": .set([.bool(true)])])
    )
  }

  @Test(arguments: 1...8) func `widths of 1 to 8 bytes are read`(size: Int) throws {
    let reference = BinaryFile.bigEndian(1, size)
    let bytes = BinaryFile([0xA1] + reference, [0x09]).with {
      $0.offsetSize = size
      $0.referenceSize = size
    }
    #expect(try PropertyList(bytes) == .array([.bool(true)]))
  }

  @Test(arguments: [(300, 2), (66_000, 4)])
  func `more objects use wider references`(count: Int, size: UInt8) throws {
    let limits = PropertyListLimits(expandedByteCount: 8 << 20)
    let list = PropertyList.array((0..<count).map { .integer(Int128($0)) })
    let bytes = try list.encoded(as: .binary, limits: limits)
    #expect(bytes[bytes.count - 25] == size)
    #expect(try PropertyList(bytes, limits: limits) == list)
  }

  @Test func `identical values are written once`() throws {
    let list = PropertyList.array(Array(repeating: .string("the same text"), count: 100))
    #expect(try list.encoded(as: .binary).count < 200)
    // -0 and 0 are equal, but different values.
    let zeros = try PropertyList.array([.real(0), .real(-0.0)]).encoded(as: .binary)
    #expect(try PropertyList(zeros).array?.last.map { "\($0)" } == "real(-0.0)")
  }

  // MARK: Damage

  @Test(
    arguments: [
      ("no objects", BinaryFile().bytes),
      ("an unknown marker", BinaryFile([0x01]).bytes),
      ("a fill byte", BinaryFile([0x0F]).bytes),
      ("an integer of 32 bytes", BinaryFile([0x15] + [UInt8](repeating: 0, count: 32)).bytes),
      ("a truncated integer", BinaryFile([0x13, 0]).bytes),
      ("a truncated wide integer", BinaryFile([0x14] + [UInt8](repeating: 0, count: 15)).bytes),
      ("a real of 2 bytes", BinaryFile([0x21, 0, 0]).bytes),
      ("a date of 4 bytes", BinaryFile([0x32, 0, 0, 0, 0]).bytes),
      ("truncated data", BinaryFile([0x42, 0]).bytes),
      ("a truncated string", BinaryFile([0x62, 0, 0x61]).bytes),
      ("a truncated count", BinaryFile([0x4F]).bytes),
      ("a count that is not an integer", BinaryFile([0x4F, 0x33]).bytes),
      ("a count of 16 bytes", BinaryFile([0x4F, 0x14] + [UInt8](repeating: 0, count: 16)).bytes),
      (
        "a count of eight 0xFF bytes",
        BinaryFile([0xAF, 0x13] + [UInt8](repeating: 0xFF, count: 8)).bytes
      ),
      ("a count of 2^62", BinaryFile([0x6F, 0x13, 0x40] + [UInt8](repeating: 0, count: 7)).bytes),
      ("ASCII above 127", BinaryFile([0x51, 0x80]).bytes),
      ("half a surrogate pair", BinaryFile([0x61, 0xD8, 0x3D]).bytes),
      ("a reference of 5 bytes", BinaryFile([0x84, 1, 0, 0, 0, 0]).bytes),
      ("a reference of 16 bytes", BinaryFile([0x8F] + [UInt8](repeating: 0, count: 16)).bytes),
      ("an ordered set", BinaryFile([0xB0]).bytes),
      ("a reference to a missing object", BinaryFile([0xA1, 1]).bytes),
      ("a truncated array", BinaryFile([0xA2, 0]).bytes),
      ("a truncated dictionary", BinaryFile([0xD1, 1], [0x50]).with { $0.tableOffset = 10 }),
      ("a key that is not a string", BinaryFile([0xD1, 1, 1], [0x09]).bytes),
      ("a repeated key", BinaryFile([0xD2, 1, 1, 1, 1], [0x50]).bytes),
      ("an array that contains itself", BinaryFile([0xA1, 0]).bytes),
      ("an indirect cycle", BinaryFile([0xA1, 1], [0xD1, 2, 0], [0x50]).bytes),
      ("a missing top object", BinaryFile([0x09]).with { $0.top = 1 }),
      ("more objects than offsets", BinaryFile([0x09]).with { $0.objectCount = 2 }),
      ("an object count of Int.max", BinaryFile([0x09]).with { $0.objectCount = .max }),
      ("an offset in the header", BinaryFile([0x09]).with { $0.offsets = [0] }),
      ("an offset in the table", BinaryFile([0x09]).with { $0.offsets = [9] }),
      ("a table in the header", BinaryFile([0x09]).with { $0.tableOffset = 8 }),
      ("a table after the end", BinaryFile([0x09]).with { $0.tableOffset = 1_000 }),
      ("offsets of 0 bytes", BinaryFile([0x09]).with { $0.offsetSize = 0 }),
      ("references of 0 bytes", BinaryFile([0x09]).with { $0.referenceSize = 0 }),
      ("references of 9 bytes", BinaryFile([0x09]).with { $0.referenceSize = 9 }),
      ("nothing after the header", Array("bplist00".utf8)),
    ] as [(String, [UInt8])]
  )
  func `damage throws malformed`(damage: String, bytes: [UInt8]) {
    let error = #expect(throws: ResumeDataError.self) { try PropertyList(bytes) }
    #expect(error?.code == .malformed, "\(damage)")
  }

  @Test func `every truncation of a property list throws`() {
    let bytes = GoldenSample.requestBytes
    #expect(bytes.count == 1_944)
    let readable = bytes.indices.filter { (try? PropertyList(Array(bytes[..<$0]))) != nil }
    #expect(readable == [])
  }

  @Test func `a damaged property list that can be read can be written`() {
    let bytes = GoldenSample.requestBytes
    var unwritable: [Int] = []
    var readCount = 0
    for index in bytes.indices {
      for mask: UInt8 in [0x01, 0x80] {
        var damaged = bytes
        damaged[index] ^= mask
        guard let list = try? PropertyList(damaged) else { continue }
        readCount += 1
        if (try? list.encoded(as: .binary)) == nil { unwritable.append(index) }
      }
    }
    #expect(readCount > 50)
    #expect(unwritable == [])
  }

  // MARK: Limits

  private static let tooLarge = ResumeDataError.Code.tooLarge

  private func code(
    _ bytes: [UInt8],
    _ limits: PropertyListLimits = .standard
  )
    -> ResumeDataError.Code?
  {
    do throws(ResumeDataError) {
      _ = try PropertyList(bytes, limits: limits)
      return nil
    } catch {
      return error.code
    }
  }

  @Test func `a property list with too many bytes throws tooLarge`() {
    let bytes = BinaryFile([0x09]).bytes
    #expect(code(bytes, PropertyListLimits(byteCount: bytes.count)) == nil)
    #expect(code(bytes, PropertyListLimits(byteCount: bytes.count - 1)) == Self.tooLarge)
  }

  @Test func `nesting beyond the depth limit throws tooLarge`() {
    let chain = { (length: Int) in
      BinaryFile(objects: (1...length).map { [0xA1, UInt8($0)] } + [[0x09]])
        .with { $0.offsetSize = 2 }
    }
    #expect(code(chain(64)) == nil)
    #expect(code(chain(65)) == Self.tooLarge)
    #expect(code(chain(128), PropertyListLimits(depth: 1_000)) == nil)
    #expect(code(chain(129), PropertyListLimits(depth: 1_000)) == Self.tooLarge)
  }

  @Test func `the depth limit includes objects that were read before`() {
    // Object 1 has a depth of 60 and is read first; object 70 refers to it from a depth of 60.
    var objects: [[UInt8]] = [[0xA2, 1, 70]]
    objects += (2...60).map { [0xA1, UInt8($0)] } + [[0x09]]
    objects += Array(repeating: [0x09], count: 70 - objects.count)
    objects += (71...130).map { [0xA1, UInt8($0)] } + [[0xA1, 1]]
    #expect(code(BinaryFile(objects: objects).with { $0.offsetSize = 2 }) == Self.tooLarge)
  }

  @Test func `exponential expansion throws tooLarge`() {
    let doubled = { (steps: Int) in
      BinaryFile(objects: (1...steps).map { [0xA2, UInt8($0), UInt8($0)] } + [[0x09]]).bytes
    }
    #expect(code(doubled(10)) == nil)
    #expect(code(doubled(60)) == Self.tooLarge)
  }

  @Test func `overlapping objects throw tooLarge before memory is allocated`() {
    // 10,000 arrays share the same bytes: 60,000 references to the last object.
    let count = 10_000
    let numbers =
      BinaryFile.bigEndian(count, 2) + (1...count).flatMap { BinaryFile.bigEndian($0, 2) }
    let references = (0..<60_000).flatMap { _ in BinaryFile.bigEndian(count + 1, 2) }
    let bytes = BinaryFile(
      [0xAF, 0x11] + numbers,
      [0xAF, 0x11] + BinaryFile.bigEndian(60_000, 2) + references,
      [0x09]
    ).with {
      let offset = 8 + 2 + numbers.count
      $0.referenceSize = 2
      $0.offsetSize = 4
      $0.offsets = [8] + Array(repeating: offset, count: count) + [offset + 4 + references.count]
    }
    #expect(code(bytes) == Self.tooLarge)
  }

  @Test func `a large string with a thousand references throws tooLarge`() {
    let length = 1 << 16
    let text =
      [0x5F, 0x12] + BinaryFile.bigEndian(length, 4) + [UInt8](repeating: 97, count: length)
    let bytes = BinaryFile([0xAF, 0x11, 0x04, 0x00] + [UInt8](repeating: 1, count: 1_024), text)
      .with { $0.offsetSize = 4 }
    #expect(code(bytes) == Self.tooLarge)
  }

  @Test func `the writer has the same limits`() throws {
    let limits = PropertyListLimits(expandedByteCount: 1 << 12)
    let deep = (0..<65).reduce(PropertyList.bool(true)) { value, _ in .array([value]) }
    let text = PropertyList.string(String(repeating: "a", count: 1 << 10))
    let shared = PropertyList.array([text, text, text])
    for format in PropertyListFormat.allCases {
      let depth = #expect(throws: ResumeDataError.self) { try deep.encoded(as: format) }
      #expect(depth?.code == .tooLarge)
      #expect(throws: Never.self) { try shared.encoded(as: format, limits: limits) }
      let size = #expect(throws: ResumeDataError.self) {
        try PropertyList.array([shared, shared]).encoded(as: format, limits: limits)
      }
      #expect(size?.code == .tooLarge)
    }
  }
}

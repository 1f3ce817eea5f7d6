import Foundation
import Testing

@testable import ResumeData

struct KeyedArchiveTests {
  private static func archive(
    _ objects: [PropertyList],
    top: PropertyListDictionary = [:]
  )
    throws -> KeyedArchive
  {
    try KeyedArchive(
      .dictionary([
        "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
        "$objects": .array([.string("$null")] + objects), "$top": .dictionary(top),
      ])
    )
  }

  @Test(
    arguments: [
      .null, .array([]), .dictionary([:]),
      .dictionary(["$archiver": .string("other"), "$objects": .array([]), "$top": .dictionary([:])]
      ),
      .dictionary(["$archiver": .string("NSKeyedArchiver"), "$objects": .array([])]),
      .dictionary(["$archiver": .string("NSKeyedArchiver"), "$top": .dictionary([:])]),
    ] as [PropertyList]
  )
  func `a property list that is not a keyed archive throws notKeyedArchive`(value: PropertyList) {
    let error = #expect(throws: ResumeDataError.self) { try KeyedArchive(value) }
    #expect(error?.code == .notKeyedArchive)
  }

  @Test func `additional members of an archive are kept`() throws {
    let value = PropertyList.dictionary([
      "$archiver": .string("NSKeyedArchiver"), "$top": .dictionary([:]), "more": .integer(1),
      "$objects": .array([.string("$null")]),
    ])
    #expect(try KeyedArchive(value).propertyList == value)
  }

  @Test func `the root is found under either of its two names, but not under both`() throws {
    #expect(try Self.archive([]).root == nil)
    #expect(try Self.archive([], top: ["root": .uid(1)]).root == 1)
    #expect(try Self.archive([], top: ["NSKeyedArchiveRootObjectKey": .uid(2)]).root == 2)
    let both: PropertyListDictionary = ["root": .uid(1), "NSKeyedArchiveRootObjectKey": .uid(2)]
    #expect(try Self.archive([], top: both).root == nil)
  }

  @Test func `plain values are read through references`() throws {
    let archive = try Self.archive([
      .string("text"), .integer(7), .data([1]), .dictionary(["NS.string": .string("mutable")]),
      .dictionary(["NS.data": .data([2])]), .real(1.5),
    ])
    #expect(try archive.text(.uid(1)) == "text")
    #expect(try archive.text(.uid(0)) == nil)
    #expect(try archive.text(.uid(4)) == "mutable")
    #expect(try archive.text(.string("inline")) == "inline")
    #expect(try archive.integer(.uid(2)) == 7)
    #expect(try archive.data(.uid(3)) == [1])
    #expect(try archive.data(.uid(5)) == [2])
    #expect(try archive.number(.uid(6)) == 1.5)
    #expect(try archive.number(.uid(2)) == 7)
    for wrong in [PropertyList.uid(2), .uid(7), .uid(.max)] {
      #expect(throws: ResumeDataError.self) { try archive.text(wrong) }
    }
    #expect(throws: ResumeDataError.self) { try archive.integer(.uid(6)) }
    #expect(throws: ResumeDataError.self) { try archive.data(.uid(1)) }
    #expect(throws: ResumeDataError.self) { try archive.number(.uid(1)) }
  }

  @Test func `the error for an unexpected object names its class`() throws {
    let archive = try Self.archive([
      .dictionary(["$class": .uid(2)]), .dictionary(["$classname": .string("Gadget")]),
    ])
    let error = #expect(throws: ResumeDataError.self) { try archive.text(.uid(1)) }
    #expect(error?.message.contains("Gadget") == true)
  }

  @Test func `a dictionary is read from its keys and objects`() throws {
    let keys = PropertyList.array([.uid(2), .uid(3)])
    let dictionary = { (keys: PropertyList, values: [PropertyList]) in
      try Self.archive([
        .dictionary(["NS.keys": keys, "NS.objects": .array(values)]), .string("a"), .string("b"),
      ]).dictionary(.uid(1))
    }
    #expect(try dictionary(keys, [.uid(3), .bool(true)]) == ["a": .uid(3), "b": .bool(true)])
    #expect(throws: ResumeDataError.self) { try dictionary(keys, [.uid(3)]) }
    #expect(throws: ResumeDataError.self) {
      try dictionary(.array([.uid(2), .uid(2)]), [.uid(1), .uid(1)])
    }
    #expect(throws: ResumeDataError.self) { try dictionary(.array([.uid(0)]), [.uid(1)]) }
    #expect(throws: ResumeDataError.self) { try dictionary(.string("a"), []) }
  }

  @Test func `a URL is resolved against its bases, and a cycle of bases throws`() throws {
    let url = { (base: UInt32, text: String) in
      PropertyList.dictionary(["NS.base": .uid(base), "NS.relative": .string(text)])
    }
    let archive = try Self.archive([
      url(2, "../d"), url(3, "b/c"), url(0, "http://a/x"), url(4, "cycle"), .string("no URL"),
    ])
    #expect(try archive.urlText(.uid(1)) == "http://a/d")
    #expect(try archive.urlText(.uid(3)) == "http://a/x")
    #expect(try archive.urlText(.uid(0)) == nil)
    let error = #expect(throws: ResumeDataError.self) { try archive.urlText(.uid(4)) }
    #expect(error?.code == .tooLarge)
    #expect(throws: ResumeDataError.self) { try archive.urlText(.uid(5)) }
  }

  // MARK: Changes

  @Test func `changing a member does not change an object that it shared`() throws {
    var archive = try Self.archive(
      [
        .dictionary([
          "NS.keys": .array([.uid(2), .uid(3)]), "NS.objects": .array([.uid(4), .uid(4)]),
        ]), .string("a"), .string("b"), .string("shared"),
      ],
      top: ["root": .uid(1)]
    )
    try archive.setMember("a", of: 1, to: .string("own"))
    #expect(try archive.dictionary(.uid(1)) == ["a": .uid(5), "b": .uid(4)])
    #expect(archive.objects[4] == .string("shared"))
    #expect(archive.objects[5] == .string("own"))
    // Each member has its own object now, which is changed in place.
    try archive.setMember("b", of: 1, to: .string("changed"))
    #expect(archive.objects[4] == .string("changed"))
    #expect(archive.objects.count == 6)
  }

  @Test func `removing a member also removes its value`() throws {
    var archive = try Self.archive([
      .dictionary(["NS.keys": .array([.uid(2)]), "NS.objects": .array([.uid(3)])]), .string("a"),
      .string("secret"),
    ])
    try archive.setMember("a", of: 1, to: nil)
    #expect(try archive.dictionary(.uid(1)) == [:])
    #expect(!archive.objects.contains(.string("secret")))
    try archive.setMember("a", of: 1, to: nil)
    try archive.setMember("c", of: 1, to: .integer(1))
    let value = try #require(try archive.dictionary(.uid(1))?["c"])
    #expect(try archive.integer(value) == 1)
    #expect(throws: ResumeDataError.self) { try archive.setMember("c", of: 2, to: nil) }
  }

  @Test func `setting a member with a dangling reference adds an object`() throws {
    var archive = try Self.archive([
      .dictionary(["NS.keys": .array([.uid(2)]), "NS.objects": .array([.uid(99)])]), .string("a"),
    ])
    try archive.setMember("a", of: 1, to: .integer(1))
    #expect(try archive.dictionary(.uid(1)) == ["a": .uid(3)])
    #expect(archive.objects[3] == .integer(1))
  }

  @Test func `a new object is not appended where a dangling reference would find it`() throws {
    var archive = try Self.archive(
      [
        .dictionary([
          "NS.keys": .array([.uid(2), .uid(3)]), "NS.objects": .array([.uid(4), .uid(6)]),
        ]), .string("a"), .string("b"),
      ],
      top: ["root": .uid(1)]
    )
    #expect(throws: ResumeDataError.self) { try archive.text(.uid(4)) }
    try archive.setMember("c", of: 1, to: .string("new"))
    for uid: UInt32 in [4, 6] {
      #expect(throws: ResumeDataError.self) { try archive.text(.uid(uid)) }
    }
    let value = try #require(try archive.dictionary(.uid(1))?["c"])
    #expect(try archive.text(value) == "new")
  }

  // MARK: Building

  @Test func `identical values are stored once, and values that are only equal are distinct`()
    throws
  {
    var builder = KeyedArchiveBuilder()
    let root = builder.dictionary([
      "a": .string("\u{E9}"), "b": .string("e\u{301}"), "c": .string("\u{E9}"), "d": .real(0),
      "e": .real(-0.0),
    ])
    let archive = builder.archive(root: try #require(root.uid), under: .plain)
    let members = try #require(try archive.dictionary(root))
    #expect(members["a"] == members["c"])
    let text = { (name: String) in Array((try archive.text(members[name] ?? .null) ?? "").utf8) }
    #expect(try text("a") == [0xC3, 0xA9])
    #expect(try text("b") == [0x65, 0xCC, 0x81])
    let negative = try archive.number(try #require(members["e"]))
    #expect(negative?.sign == .minus)
  }

  // MARK: Foundation

  @Test func `Foundation unarchives a built archive`() throws {
    var builder = KeyedArchiveBuilder()
    let root = builder.dictionary([
      "text": .string("a"), "number": .integer(7), "data": .data([1, 2]), "again": .string("a"),
    ])
    let archive = builder.archive(root: try #require(root.uid), under: .plain)
    let bytes = try archive.propertyList.encoded(as: .binary)
    let object = try NSKeyedUnarchiver.unarchivedObject(
      ofClasses: [NSDictionary.self, NSString.self, NSNumber.self, NSData.self],
      from: Data(bytes)
    )
    let members = try #require(object as? [String: Any])
    #expect(members["text"] as? String == "a")
    #expect(members["again"] as? String == "a")
    #expect(members["number"] as? Int == 7)
    #expect(members["data"] as? Data == Data([1, 2]))
  }

  @Test func `an archive made by Foundation is read`() throws {
    let url = try #require(URL(string: "b?c", relativeTo: URL(string: "http://a/x/")))
    let object: NSDictionary = ["url": url as NSURL, "number": 7, "data": Data([1, 2])]
    let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    let archive = try KeyedArchive(PropertyList(Array(data)))
    let root = try #require(archive.root)
    let members = try #require(try archive.dictionary(.uid(root)))
    #expect(try archive.urlText(try #require(members["url"])) == "http://a/x/b?c")
    #expect(try archive.integer(try #require(members["number"])) == 7)
    #expect(try archive.data(try #require(members["data"])) == [1, 2])
  }
}

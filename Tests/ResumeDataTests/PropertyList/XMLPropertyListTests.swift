import Testing

@testable import ResumeData

struct XMLPropertyListTests {
  private static func document(_ content: String) -> [UInt8] {
    Array(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
      "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">
      \(content)
      </plist>

      """.utf8
    )
  }

  // MARK: Values

  @Test(
    arguments: [
      ("<true/>", .bool(true)), ("<false></false>", .bool(false)), ("<string/>", .string("")),
      ("<string> a\n b </string>", .string(" a\n b ")),
      ("<string>&lt;&amp;&gt;&quot;&apos;&#65;&#x20aC;&#x1F600;</string>", .string("<&>\"'A€😀")),
      ("<string>a<![CDATA[<b>&amp;]]]>c</string>", .string("a<b>&amp;]c")),
      ("<integer>-42</integer>", .integer(-42)), ("<integer> +7\n</integer>", .integer(7)),
      ("<integer>0xfF</integer>", .integer(255)), ("<integer>-0x10</integer>", .integer(-16)),
      ("<integer>18446744073709551615</integer>", .integer(1 << 64 - 1)),
      ("<real>1.5e3</real>", .real(1_500)), ("<real>-infinity</real>", .real(-.infinity)),
      ("<real>+INF</real>", .real(.infinity)), ("<real>7</real>", .real(7)),
      ("<date>2001-01-01T00:00:00Z</date>", .date(0)),
      ("<date>2000-02-29T23:59:59Z</date>", .date(-26_438_401)),
      ("<date>0001-01-01T00:00:00Z</date>", .date(-63_113_904_000)),
      ("<data>\n\tAP8\n =</data>", .data([0, 255])), ("<data/>", .data([])),
      ("<array/>", .array([])),
      ("<array> <!-- <true/> --> <true/> </array>", .array([.bool(true)])),
      ("<dict/>", .dictionary([:])), ("<dict></dict>", .dictionary([:])),
      ("<dict><key>a&amp;b</key><?x y?><true/></dict>", .dictionary(["a&b": .bool(true)])),
      ("<dict><key>CF$UID</key><integer>9</integer></dict>", .uid(9)),
      (
        "<dict><key>CF$UID</key><integer>-1</integer></dict>",
        .dictionary(["CF$UID": .integer(-1)])
      ),
      (
        "<dict><key>CF$UID</key><integer>1</integer><key>b</key><true/></dict>",
        .dictionary(["CF$UID": .integer(1), "b": .bool(true)])
      ),
      ("<string a='>' b=\"/>\">x</string>", .string("x")),
    ] as [(String, PropertyList)]
  )
  func `each kind of value is read`(content: String, value: PropertyList) throws {
    #expect(try PropertyList(Self.document(content)) == value)
  }

  @Test func `nan is read as NaN`() throws {
    guard case .real(let value) = try PropertyList(Self.document("<real>nan</real>")) else {
      Issue.record("the value is not a real number")
      return
    }
    #expect(value.isNaN)
  }

  @Test(arguments: [
    "<true/>", "<plist><true/></plist>", "\u{FEFF}<plist version='1.0'><true/></plist>",
    "\n <!-- c --> <plist><true/></plist> <!-- d -->\n", "<?xml version='1.0'?><true/>",
    "<?xml version='1.0' encoding='utf-8' standalone='no'?><true/>",
    "<?xml version=\"1.0\" encoding = \"US-ASCII\" ?>\r\n<!DOCTYPE plist><true/>",
  ])
  func `optional prologs and comments around the value are accepted`(text: String) throws {
    #expect(try PropertyList(Array(text.utf8)) == .bool(true))
  }

  // MARK: Damage

  @Test(arguments: [
    "", "<", "<plist", "<plist>", "<plist/>", "<plist></plist>", "<plist><true/>",
    "<plist><true/></dict>", "<plist><true/><true/></plist>", "<true/>x", "<true/><true/>",
    "<nothing/>", "</true>", "<true", "<true></false>", "<true>x</true>", "<array>x</array>",
    "<a-name-that-is-far-too-long/>", "<string>", "<string>a", "<string>a</array>",
    "<string><b/></string>", "<string>&nope;</string>", "<string>&#xD800;</string>",
    "<string>&#1114112;</string>", "<string>&#;</string>", "<string>&#+65;</string>",
    "<string>&#0;</string>", "<string>\u{1}</string>", "<string>\u{FFFE}</string>",
    "<string>&amp</string>", "<string>&aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;</string>",
    "<string><![CDATA[a</string>", "<integer/>", "<integer>1.5</integer>", "<integer>0x</integer>",
    "<integer>+-1</integer>", "<integer>--1</integer>", "<integer>- 1</integer>",
    "<integer>99999999999999999999999999999999999999999</integer>", "<real/>", "<real>x</real>",
    "<real>0x1p3</real>", "<real>1e</real>", "<data>A</data>", "<data>AA=A</data>",
    "<data>A===</data>", "<data>AA</data>", "<data>A*==</data>", "<date/>",
    "<date>2001-02-29T00:00:00Z</date>", "<date>2001-13-01T00:00:00Z</date>",
    "<date>2001-01-01T24:00:00Z</date>", "<date>2001-01-01</date>", "<dict><true/></dict>",
    "<dict><key>a</key></dict>", "<dict><key>a</key><key>b</key></dict>",
    "<dict><key>a</key><true/><key>a</key><true/></dict>", "<dict><key>a</key>", "<array>",
    "<array></dict>", "<!-- ", "<?xml ", "<?xml?><!DOCTYPE", "<?xml?><!DOCTYPE 'x",
    "<?xml version='1.0' encoding='UTF-16'?><true/>", "<string a='></string>",
    "<?xml version='1.0'?><!DOCTYPE plist [<!ENTITY a 'b'>]><string>&a;</string>",
  ])
  func `damaged XML throws`(text: String) {
    let error = #expect(throws: ResumeDataError.self) { try PropertyList(Array(text.utf8)) }
    #expect(error?.code == (text.isEmpty ? .notPropertyList : .malformed))
  }

  @Test func `invalid UTF-8 throws`() {
    let bytes = Array("<string>".utf8) + [0xC3, 0x28] + Array("</string>".utf8)
    #expect(throws: ResumeDataError.self) { try PropertyList(bytes) }
  }

  @Test func `a truncated property list throws`() throws {
    let bytes = GoldenSample.bytes
    let counts = stride(from: 0, to: bytes.count, by: 7)
    let readable = counts.filter { (try? PropertyList(Array(bytes[..<$0]))) != nil }
    #expect(readable == [])
  }

  @Test func `exceeding the depth or size limit throws tooLarge`() {
    let nested = { (count: Int) in
      String(repeating: "<array>", count: count) + String(repeating: "</array>", count: count)
    }
    #expect(throws: Never.self) { try PropertyList(Array(nested(64).utf8)) }
    let limits = PropertyListLimits(expandedByteCount: 1 << 12)
    let documents = [
      nested(65), String(repeating: "<array>", count: 10_000),
      String(repeating: "<dict><key>a</key>", count: 10_000),
      "<array>" + String(repeating: "<true/>", count: 200) + "</array>",
      "<string>" + String(repeating: "a", count: 1 << 13) + "</string>",
    ]
    for text in documents {
      let error = #expect(throws: ResumeDataError.self) {
        try PropertyList(Array(text.utf8), limits: limits)
      }
      #expect(error?.code == .tooLarge)
    }
  }

  // MARK: Writing

  @Test func `values are formatted as CoreFoundation does`() throws {
    let value = PropertyList.dictionary([
      "array": .array([.bool(true), .array([]), .dictionary([:])]),
      "data": .data([UInt8](repeating: 0xFF, count: 52)), "date": .date(-26_438_401),
      "empty": .data([]), "real": .real(60), "text": .string("a<b>&\"'"), "uid": .uid(3),
    ])
    let expected = Self.document(
      """
      <dict>
      \t<key>array</key>
      \t<array>
      \t\t<true/>
      \t\t<array/>
      \t\t<dict/>
      \t</array>
      \t<key>data</key>
      \t<data>
      \t////////////////////////////////////////////////////////////////////
      \t/w==
      \t</data>
      \t<key>date</key>
      \t<date>2000-02-29T23:59:59Z</date>
      \t<key>empty</key>
      \t<data>
      \t</data>
      \t<key>real</key>
      \t<real>60</real>
      \t<key>text</key>
      \t<string>a&lt;b&gt;&amp;"'</string>
      \t<key>uid</key>
      \t<dict>
      \t\t<key>CF$UID</key>
      \t\t<integer>3</integer>
      \t</dict>
      </dict>
      """
    )
    #expect(
      String(decoding: try value.encoded(as: .xml), as: UTF8.self)
        == String(decoding: expected, as: UTF8.self)
    )
  }

  @Test(
    arguments: [
      .null, .set([]), .string("\u{0}"), .string("\u{1B}"), .date(.infinity), .date(.nan),
      .date(1e12), .date(-1e12), .date(-0x1p63), .date(0x1p63), .date(-.greatestFiniteMagnitude),
      .dictionary(["CF$UID": .integer(1)]),
    ] as [PropertyList]
  )
  func `values that XML cannot represent throw notRepresentable`(value: PropertyList) {
    let error = #expect(throws: ResumeDataError.self) { try value.encoded(as: .xml) }
    #expect(error?.code == .notRepresentable)
    #expect(throws: Never.self) { try value.encoded(as: .binary) }
  }

  @Test func `a carriage return is escaped, so it survives newline normalization`() throws {
    let bytes = try PropertyList.string("a\r\nb").encoded(as: .xml)
    #expect(!bytes.contains(0x0D))
    #expect(try PropertyList(bytes) == .string("a\r\nb"))
  }

  /// 1900 is not a leap year, and 2000 is one.
  @Test func `every day from 1896 to 2004 round-trips in order`() throws {
    let day = 86_400
    let first = -38_351 * day
    var last = ""
    var wrong: [Int] = []
    for seconds in stride(from: first, through: 1_460 * day, by: day) {
      let text = CalendarTime.text(Double(seconds)) ?? ""
      if text <= last || CalendarTime.seconds(text) != seconds { wrong.append(seconds) }
      last = text
    }
    #expect(wrong == [])
    #expect(CalendarTime.text(Double(first)) == "1896-01-01T00:00:00Z")
    #expect(last == "2004-12-31T00:00:00Z")
  }
}

import ObjectStore
import Testing

@Suite struct FieldTypeTests {
  @Test(
    arguments: [
      .bool, .signed(bits: 8), .unsigned(bits: 64), .float, .double, .date, .uuid, .string, .data,
      .array(.string), .set(.array(.uuid)), .dictionary(.string, .array(.date)),
      .embedded("Point"), .array(.embedded("A B")),
    ] as [FieldType]
  )
  func `a type round-trips through its name`(type: FieldType) {
    #expect(FieldType(type.description) == type)
  }

  @Test(arguments: ["", "int", "int7", "array<", "array<>", "set<int8", "dictionary<int8>"])
  func `an unknown type name is refused`(name: String) {
    #expect(FieldType(name) == nil)
  }
}

import Foundation
import ObjectStoreModel

/// A model with every kind of field.
@Model
struct Download: Equatable {
  @PrimaryKey var url: String
  @Indexed var state: State = .waiting
  @Indexed var tags: Set<String> = []
  @Hot @Columnar var received: Int64 = 0
  let created: Date
  var blob: Data?
  @Indexed var priority: Int? = 5
  @Field(id: 7) var note: String? = nil
  @Field(renamedFrom: "attempts") var attemptCount: Int = 0 {
    didSet { isSelected = false }
  }
  var history: [Self.State] = []
  @Transient var isSelected = false
  @Transient var badge: Int?

  var isNew: Bool { received == 0 }
  static let limit = 3

  enum State: String, FieldValue {
    case waiting
    case done
  }
}

/// A model that declares its conformance itself.
@Model
struct Marked: Model, Hashable {
  @PrimaryKey var id: UInt8
}

enum Library {
  typealias ISBN = String

  enum Binding: String, FieldValue {
    case hard
    case soft
  }

  @Model
  struct Book {
    @PrimaryKey var isbn: ISBN
    var binding: Binding = .soft
    var previous: [Library.Binding]? = nil
  }
}

extension Library {
  @Model
  struct Reader {
    @PrimaryKey var number: Int32
    var favourite: Binding?
  }
}

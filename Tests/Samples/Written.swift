// What the samples of the protocol Model stand in: a type that conforms to it without the macro.
import ObjectStore

struct Note: Sendable {
  var id: Int64
  var text: String
}

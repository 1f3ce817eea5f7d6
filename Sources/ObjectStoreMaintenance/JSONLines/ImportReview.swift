package import ObjectStoreCore

/// Examines the objects of a JSON Lines import before they are written.
///
/// An import into an existing store reads the file twice: all objects are examined once before
/// anything is written, and again when they are written. The creation of a store reads it once.
package protocol ImportReview: AnyObject {
  /// The model whose stores and files are reviewed.
  ///
  /// Objects are reviewed if the store or the file describes this model.
  var model: String { get }

  /// The ids of fields, by model, whose values no two objects may share.
  ///
  /// Enforced in the transaction that writes the objects, with the index of each field that has one.
  var uniqueFields: [String: Set<UInt32>] { get }

  /// The models of the program that is to open the store, which those of a new store must fit.
  ///
  /// - Parameter version: The schema version of the file.
  /// - Returns: The models; none if the program has another version, which will migrate the store.
  func models(ofVersion version: UInt32) -> [ModelSchema]

  /// Begins to read the file.
  ///
  /// - Parameter isCheck: Whether nothing is written, and the file will be read again.
  func begin(isCheck: Bool)

  /// Reviews the next object of the file.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - line: Its line, from 1.
  /// - Returns: The object to write; `nil` to skip it.
  /// - Throws: ``ImportRefusal`` if the object must not be imported; other errors end the import.
  func review(_ object: StoredObject, line: Int) throws -> StoredObject?

  /// Ends the reading of the file.
  ///
  /// - Throws: ``ImportRefusal`` for an object that must not be imported without one that is missing.
  func end() throws
}

/// The reason why an object must not be imported.
package struct ImportRefusal: Error, Sendable, Hashable {
  /// The reason, as a clause.
  package var reason: String
  /// The line of the object; `nil` for the last one that was read.
  package var line: Int?

  /// Creates a refusal.
  package init(_ reason: String, line: Int? = nil) {
    self.reason = reason
    self.line = line
  }
}

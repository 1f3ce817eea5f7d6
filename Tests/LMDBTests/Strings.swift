import Foundation
import LMDB

// Strings as keys and values, which keeps the tests short.

extension Environment {
  func write<R>(_ body: (inout WriteTransaction) throws -> R) throws -> R {
    var transaction = try beginWrite()
    let result = try body(&transaction)
    try transaction.commit()
    return result
  }

  /// Opens the database `name`, and creates it if it does not exist.
  func database(_ name: String, keys: Database.Keys = .bytes) throws -> Database {
    try write { try $0.createDatabase(name, keys: keys) }
  }

  func string(for key: String, in database: Database) throws -> String? {
    try beginRead().string(for: key, in: database)
  }
}

extension Transaction where Self: ~Copyable {
  borrowing func string(for key: String, in database: Database) throws -> String? {
    try withValue(for: Array(key.utf8).span, in: database) { value in
      guard let value else { return nil }
      return unsafe value.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
  }

  /// Returns the keys in ascending order.
  borrowing func keys(of database: Database) throws -> [String] {
    var keys: [String] = []
    let cursor = unsafe try cursor(on: database)
    var entry = unsafe try cursor.first()
    while let found = unsafe entry {
      keys.append(unsafe String(decoding: found.key, as: UTF8.self))
      unsafe entry = unsafe try cursor.next()
    }
    return keys
  }
}

extension WriteTransaction {
  mutating func put(_ text: String, for key: String, in database: Database) throws {
    try put(Array(text.utf8).span, for: Array(key.utf8).span, in: database)
  }

  @discardableResult
  mutating func delete(_ key: String, in database: Database) throws -> Bool {
    try delete(Array(key.utf8).span, in: database)
  }

  mutating func append(_ text: String, for key: String, in database: Database) throws -> Bool {
    let value = Array(text.utf8)
    return unsafe try Array(key.utf8).withUnsafeBytes { key in
      unsafe try value.withUnsafeBytes { unsafe try append($0, for: key, in: database) }
    }
  }
}

extension String {
  /// Creates a string of one ASCII character, repeated.
  ///
  /// `String(repeating:count:)` appends the character again and again, and took a fifth of the time
  /// of the tests of pages.
  init(filledWith character: Unicode.Scalar, count: Int) {
    let byte = UInt8(ascii: character)
    unsafe self.init(unsafeUninitializedCapacity: count) { buffer in
      if count > 0, let start = buffer.baseAddress { unsafe memset(start, Int32(byte), count) }
      return count
    }
  }
}

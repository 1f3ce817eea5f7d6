/// What a repair could save, and what it could not.
public struct RepairReport: Sendable, Hashable {
  /// What became of the objects of one model.
  public struct ModelReport: Sendable, Hashable {
    /// How many objects are in the new store.
    public var saved = 0
    /// Objects that are in the new store, but lost the fields that change often: those are nil, or
    /// zero or empty where they cannot be nil.
    public var withoutHotFields: [UInt64] = []
    /// Objects of which something is left, but no record that can be read.
    public var lost: [UInt64] = []

    /// A report of nothing.
    public init() {}
  }

  /// An object that could be read and is not in the new store.
  public struct LeftOut: Sendable, Hashable {
    /// The object.
    public var object: StoredObject
    /// Why: another has its primary key, or its values in a unique index.
    public var reason: String
  }

  /// What became of the objects, by the name of the model.
  public internal(set) var models: [String: ModelReport] = [:]
  /// Objects that stand against others: of two the older one is saved.
  public internal(set) var leftOut: [LeftOut] = []
  /// What is wrong with the file, the first ones of it.
  public internal(set) var damages: [String] = []
  /// How much is wrong with the file.
  public internal(set) var damageCount = 0
  /// What could not be searched or is not known, in words.
  public internal(set) var notes: [String] = []

  /// Whether all is saved, as far as can be known.
  public var isComplete: Bool {
    damageCount == 0 && leftOut.isEmpty && notes.isEmpty
      && models.values.allSatisfy { $0.lost.isEmpty && $0.withoutHotFields.isEmpty }
  }
}

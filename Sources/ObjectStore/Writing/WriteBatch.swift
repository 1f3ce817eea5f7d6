/// Where the objects of a batch belong, and in which order they are written.
///
/// Each primary key leads to a page of its own, and so does each object. Looked up in the order of
/// their hashes, and written in the order of their ids, they meet one page after another, as
/// neighbours do.
@usableFromInline
struct WriteBatch {
  /// What is known of one object of the batch.
  @usableFromInline
  struct Place: Hashable {
    /// The hash of its primary key.
    let hash: UInt64
    /// Which one of the batch it is.
    @usableFromInline let position: Int
    /// An object of the store whose primary key has that hash; 0 when there is none.
    var id: UInt64 = 0
    /// Whether another object of the batch has that hash.
    var isRepeated = false
  }

  @usableFromInline private(set) var places: [Place] = []

  @usableFromInline
  init(capacity: Int) {
    places.reserveCapacity(capacity)
  }

  /// Adds the next object of the batch.
  @usableFromInline
  mutating func append(_ hash: UInt64) {
    places.append(Place(hash: hash, position: places.count))
  }

  /// Looks up each hash, in their order.
  mutating func locate(_ id: (UInt64) throws -> UInt64) rethrows {
    places.sort { ($0.hash, $0.position) < ($1.hash, $1.position) }
    for index in places.indices {
      guard index > 0, places[index - 1].hash == places[index].hash else {
        places[index].id = try id(places[index].hash)
        continue
      }
      places[index].id = places[index - 1].id
      places[index].isRepeated = true
      places[index - 1].isRepeated = true
    }
  }

  /// Has the objects written as they were given.
  @usableFromInline
  mutating func orderAsGiven() {
    var ordered = places
    for place in places { ordered[place.position] = place }
    places = ordered
  }

  /// Has the objects that are there written first, in the order of their ids; those of one id, and
  /// then the new ones, as they were given.
  mutating func orderByID() {
    // Of 0 this makes the greatest number.
    places.sort { ($0.id &- 1, $0.position) < ($1.id &- 1, $1.position) }
  }
}

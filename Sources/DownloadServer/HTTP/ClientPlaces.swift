#if Server
  internal import SystemInterface

  /// The clients that use something at the same time, of which there is a maximum.
  final class ClientPlaces: Sendable {
    /// A client's place, which is free again when it is left or released.
    final class Place: Sendable {
      // A lock, because the last reference may be released on any thread.
      private let clients: Mutex<ClientPlaces?>

      fileprivate init(_ clients: ClientPlaces) { self.clients = Mutex(clients) }

      deinit { leave() }

      /// Frees the place, also while it is referenced.
      func leave() {
        let left = clients.withLock { clients in
          defer { clients = nil }
          return clients
        }
        left?.count.withLock { $0 -= 1 }
      }
    }

    private let maximum: Int
    // A lock, because connections begin and end on any thread.
    private let count = Mutex(0)

    init(maximum: Int) { self.maximum = maximum }

    /// Returns a place; `nil` if none is free.
    func place() -> Place? {
      let isFree = count.withLock { count in
        guard count < maximum else { return false }
        count += 1
        return true
      }
      return isFree ? Place(self) : nil
    }
  }
#endif

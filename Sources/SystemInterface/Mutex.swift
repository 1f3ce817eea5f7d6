@_exported public import Synchronization

#if THREAD_SANITIZER
  /// A value guarded by a lock that ThreadSanitizer understands.
  ///
  /// ThreadSanitizer does not see the locking of the standard library's `Mutex` in Swift 6.3, and
  /// reports accesses to its value as races. A file that imports only this module gets this type
  /// instead; `.ci/sanitize` defines the condition. Other builds use the standard library's type.
  // The pointers are never reassigned, and the value is accessed only while the lock is held.
  @safe
  package struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    /// Creates a lock that guards `value`.
    package init(_ value: consuming sending Value) {
      unsafe lock = .allocate(capacity: 1)
      unsafe pthread_mutex_init(lock, nil)
      unsafe self.value = .allocate(capacity: 1)
      unsafe self.value.initialize(to: value)
    }

    deinit {
      unsafe value.deinitialize(count: 1)
      unsafe value.deallocate()
      unsafe pthread_mutex_destroy(lock)
      unsafe lock.deallocate()
    }

    /// Runs `body` with exclusive access to the value.
    package borrowing func withLock<Result: ~Copyable, E: Error>(
      _ body: (inout sending Value) throws(E) -> sending Result
    ) throws(E) -> sending Result {
      unsafe pthread_mutex_lock(lock)
      defer { unsafe pthread_mutex_unlock(lock) }
      return try unsafe body(&value.pointee)
    }
  }
#endif

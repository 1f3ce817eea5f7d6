#if THREAD_SANITIZER
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Musl)
    internal import Musl
  #else
    internal import Glibc
  #endif

  /// What `Mutex` is in other builds, on a lock that the thread sanitizer sees.
  ///
  /// It does not see that of the standard library of 6.3, and reports what a `Mutex` guards as races.
  // The pointers are never reassigned, and the value is touched with the lock held alone.
  @safe
  package struct Guarded<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    /// Guards a value.
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

    /// Runs `body` with the value, one caller at a time.
    package borrowing func withLock<Result: ~Copyable, E: Error>(
      _ body: (inout sending Value) throws(E) -> sending Result
    ) throws(E) -> sending Result {
      unsafe pthread_mutex_lock(lock)
      defer { unsafe pthread_mutex_unlock(lock) }
      return try unsafe body(&value.pointee)
    }
  }
#else
  package import Synchronization

  /// A value that one thread at a time can touch: the standard library's `Mutex`.
  package typealias Guarded<Value: ~Copyable> = Mutex<Value>
#endif

#if THREAD_SANITIZER
  internal import LMDB

  /// The thread sanitizer does not see the lock of the standard library's `Mutex`.
  typealias Mutex<Value: ~Copyable> = Guarded<Value>
#endif

/// Memory of its own for a value that a class changes in place.
///
/// A stored property of a class is checked at run time, at each change, for another change going on
/// at the same time: a tenth of the time of a bulk load. What lies here is reached through the one
/// write transaction, which the compiler knows to be used by one at a time.
@safe  // Although it holds a pointer: it is noncopyable and owns what it points to.
@usableFromInline
struct InPlace<Value: ~Copyable>: ~Copyable {
  @usableFromInline let pointer: UnsafeMutablePointer<Value>

  init(_ value: consuming Value) {
    unsafe pointer = .allocate(capacity: 1)
    unsafe pointer.initialize(to: value)
  }

  deinit {
    unsafe pointer.deinitialize(count: 1)
    unsafe pointer.deallocate()
  }

  /// The value.
  @inlinable
  var value: Value {
    @inline(__always)
    _read { yield unsafe pointer.pointee }
    @inline(__always)
    nonmutating _modify { yield unsafe &pointer.pointee }
  }
}

/// Heap storage for a value that a class mutates without dynamic exclusivity checks.
///
/// Swift checks each mutation of a class's stored property for overlapping access at run time,
/// which takes a tenth of the time of a bulk load. The values in this storage are only reached
/// through the write transaction, for which the compiler enforces exclusivity statically.
@safe  // It contains a pointer, but is noncopyable and owns the memory.
@usableFromInline
struct UncheckedStorage<Value: ~Copyable>: ~Copyable {
  @usableFromInline let pointer: UnsafeMutablePointer<Value>

  init(_ value: consuming Value) {
    unsafe pointer = .allocate(capacity: 1)
    unsafe pointer.initialize(to: value)
  }

  deinit {
    unsafe pointer.deinitialize(count: 1)
    unsafe pointer.deallocate()
  }

  @inlinable
  var value: Value {
    @inline(__always)
    _read { yield unsafe pointer.pointee }
    @inline(__always)
    nonmutating _modify { yield unsafe &pointer.pointee }
  }
}

/// The descriptors and attributes of a process to start.
///
/// The corresponding C function is `posix_spawn`.
package struct ProcessStart {
  /// The environment variables of the new process.
  package enum Variables {
    case none
    /// Those of this process, byte for byte, except for the named ones: these have the values, or are
    /// removed if the value is `nil`.
    case inherited(changes: [String: String?])
  }

  /// What happens to a descriptor in the new process.
  package enum File {
    /// `target` is a copy of `source`, and open also if `source` is the same and closed on `exec`.
    case copy(_ source: Int32, as: Int32)
    case close(Int32)
    case open(_ path: String, _ flags: Int32, as: Int32)

    /// The descriptor that the new process gets; `nil` if it is closed.
    fileprivate var target: Int32? {
      switch self {
      case .copy(_, let target), .open(_, _, let target): target
      case .close: nil
      }
    }
  }

  /// In this order.
  package var files: [File] = []
  /// Whether the process inherits only standard descriptors and those that ``files`` names, and none that
  /// a library or another thread has opened without `O_CLOEXEC`.
  ///
  /// On Linux before glibc 2.34, and with musl, it may inherit one that another thread opens at this moment.
  package var closesOthers = false
  /// Whether the process begins a group of its own.
  package var beginsGroup = false
  /// The signals that it blocks; `nil` for those that this thread blocks.
  package var blockedSignals: sigset_t?
  /// The signals for which it has the default action, whatever this process does.
  package var defaultSignals: [Int32] = []

  package init() {}

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - path: The program.
  ///   - arguments: Its arguments, with its name; `nil` for those of this process, byte for byte.
  ///   - variables: Its environment.
  /// - Returns: The id of the process, and 0 or an error number.
  package func start(
    _ path: String,
    arguments: [String]?,
    variables: Variables
  ) -> (id: pid_t, code: Int32) {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for file in files {
      switch file {
      case .copy(let source, let target):
        unsafe posix_spawn_file_actions_adddup2(&actions, source, target)
      case .close(let descriptor):
        unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
      case .open(let path, let flags, let target):
        unsafe posix_spawn_file_actions_addopen(&actions, target, path, flags, 0)
      }
    }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var flags: Int32 = 0
    if closesOthers {
      #if canImport(Darwin)
        flags |= Int32(POSIX_SPAWN_CLOEXEC_DEFAULT)
        let given = files.compactMap(\.target)
        for descriptor in STDIN_FILENO...STDERR_FILENO where !given.contains(descriptor) {
          unsafe posix_spawn_file_actions_addinherit_np(&actions, descriptor)
        }
      #else
        let given = files.compactMap(\.target)
        let first = max(STDERR_FILENO, given.max() ?? 0) + 1
        var others = (STDERR_FILENO + 1..<first).filter { !given.contains($0) }
        if unsafe !closeDescriptors(from: first, in: &actions) {
          others += Self.inheritableDescriptors(from: first)
        }
        for descriptor in others {
          unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
        }
      #endif
    }
    if beginsGroup {
      unsafe posix_spawnattr_setpgroup(&attributes, 0)
      flags |= Int32(POSIX_SPAWN_SETPGROUP)
    }
    if var blockedSignals {
      unsafe posix_spawnattr_setsigmask(&attributes, &blockedSignals)
      flags |= Int32(POSIX_SPAWN_SETSIGMASK)
    }
    if !defaultSignals.isEmpty {
      var defaults = signalSet(defaultSignals)
      unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
      flags |= Int32(POSIX_SPAWN_SETSIGDEF)
    }
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    var argv: [UnsafeMutablePointer<CChar>?] =
      unsafe (arguments ?? []).map { unsafe strdup($0) } + [nil]
    var envp: [UnsafeMutablePointer<CChar>?] =
      unsafe variables.entries.map { entry in
        unsafe (entry + [0]).withUnsafeBytes { bytes in
          unsafe bytes.baseAddress.flatMap { unsafe strdup($0.assumingMemoryBound(to: CChar.self)) }
        }
      } + [nil]
    defer {
      while let text = unsafe argv.popLast() { unsafe free(text) }
      while let text = unsafe envp.popLast() { unsafe free(text) }
    }
    var id: pid_t = 0
    let code =
      if arguments == nil {
        unsafe posix_spawn(&id, path, &actions, &attributes, CommandLine.unsafeArgv, envp)
      } else {
        unsafe posix_spawn(&id, path, &actions, &attributes, argv, envp)
      }
    return (id, code)
  }
}

extension ProcessStart.Variables {
  /// The variables as `NAME=value`.
  fileprivate var entries: [[UInt8]] {
    guard case .inherited(let changes) = self else { return [] }
    let kept = environmentBytes().filter { entry in
      let name = String(validating: entry.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
      return name.map { !changes.keys.contains($0) } ?? true
    }
    return kept + changes.compactMap { name, value in value.map { Array("\(name)=\($0)".utf8) } }
  }
}

#if !canImport(Darwin)
  extension ProcessStart {
    /// The descriptors from `first` on that a program would inherit from this process now.
    package static func inheritableDescriptors(from first: Int32) -> [Int32] {
      (namesInFolder("/proc/self/fd") ?? []).compactMap { Int32($0) }.filter { descriptor in
        let flags = fcntl(descriptor, F_GETFD)
        return descriptor >= first && flags >= 0 && flags & FD_CLOEXEC == 0
      }
    }
  }

  /// Makes a process close all descriptors from `first` on.
  ///
  /// The corresponding C function is `posix_spawn_file_actions_addclosefrom_np`.
  ///
  /// - Returns: Whether the C library has this function.
  private func closeDescriptors(
    from first: Int32,
    in actions: inout posix_spawn_file_actions_t
  ) -> Bool {
    typealias Function =
      @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
    guard let symbol = unsafe dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else {
      return false
    }
    let addClosing = unsafe unsafeBitCast(symbol, to: Function.self)
    return unsafe addClosing(&actions, first) == 0
  }
#endif

/// Waits for a change of a child process.
package func waitpid(_ id: pid_t, _ status: inout Int32, _ options: Int32) -> pid_t {
  unsafe withUnsafeMutablePointer(to: &status) { unsafe waitpid(id, $0, options) }
}

/// Returns whether a child process has ended, or cannot be waited for; it stays a zombie.
///
/// The corresponding C function is `waitid` with `WEXITED` and `WNOWAIT`.
///
/// - Parameters:
///   - id: The process.
///   - options: `WNOHANG` not to wait for its end.
/// - Returns: Whether it has ended, or cannot be waited for.
package func hasChildEnded(_ id: pid_t, _ options: Int32 = 0) -> Bool {
  var information = unsafe siginfo_t()
  let code = unsafe waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT | options)
  // Without a change, the structure keeps its zeros.
  return unsafe code == 0 ? information.si_signo == SIGCHLD : errno != EINTR
}

/// Returns the arguments of this process with its name, as bytes.
package func argumentBytes() -> [[UInt8]] {
  var arguments: [[UInt8]] = []
  for position in 0..<Int(CommandLine.argc) {
    guard let start = unsafe CommandLine.unsafeArgv[position] else { break }
    arguments.append(unsafe Array(UnsafeRawBufferPointer(start: start, count: strlen(start))))
  }
  return arguments
}

/// Returns the environment variables of this process as `NAME=value`, as bytes.
package func environmentBytes() -> [[UInt8]] {
  var next: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
  #if canImport(Darwin)
    unsafe next = _NSGetEnviron().pointee
  #else
    unsafe next = environ
  #endif
  var entries: [[UInt8]] = []
  while let entry = unsafe next?.pointee {
    entries.append(unsafe Array(UnsafeRawBufferPointer(start: entry, count: strlen(entry))))
    unsafe next = next.map { unsafe $0 + 1 }
  }
  return entries
}

/// Returns a variable of the environment; `nil` if it is not set.
package func environmentVariable(_ name: String) -> String? {
  unsafe getenv(name).map { unsafe String(cString: $0) }
}

#if os(Linux)
  /// Asks the kernel to send this process a signal when its parent ends, and to give it a name.
  ///
  /// The corresponding C function is `prctl`.
  package func setParentDeathSignal(_ number: Int32, processName name: String) {
    // Swift does not import `prctl`, which is variadic. On x86-64 and arm64, Linux passes variadic
    // integer arguments as it passes fixed ones.
    typealias Function = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
    guard let symbol = unsafe dlsym(nil, "prctl") else { return }
    let prctl = unsafe unsafeBitCast(symbol, to: Function.self)
    let (setParentDeathSignal, setName): (Int32, Int32) = (1, 15)
    _ = prctl(setParentDeathSignal, UInt(number), 0, 0, 0)
    _ = unsafe name.withCString { prctl(setName, UInt(bitPattern: $0), 0, 0, 0) }
  }
#endif

/// Returns whether a user is the only one of a group, whose name is that of the user; `nil` if one
/// of them has no name, as in a container.
///
/// The corresponding C functions are `getgrgid_r` and `getpwuid_r`.
package func isPrivateGroup(_ id: gid_t, of user: uid_t) -> Bool? {
  var groupBuffer = [CChar](repeating: 0, count: 16_384)
  var userBuffer = [CChar](repeating: 0, count: 16_384)
  var groupEntry = unsafe group()
  var userEntry = unsafe passwd()
  var foundGroup: UnsafeMutablePointer<group>?
  var foundUser: UnsafeMutablePointer<passwd>?
  _ = unsafe getgrgid_r(id, &groupEntry, &groupBuffer, groupBuffer.count, &foundGroup)
  _ = unsafe getpwuid_r(user, &userEntry, &userBuffer, userBuffer.count, &foundUser)
  guard let foundGroup = unsafe foundGroup, let foundUser = unsafe foundUser else { return nil }
  guard unsafe foundUser.pointee.pw_gid == id,
    unsafe strcmp(foundGroup.pointee.gr_name, foundUser.pointee.pw_name) == 0
  else { return false }
  var member = unsafe foundGroup.pointee.gr_mem
  while let name = unsafe member?.pointee {
    if unsafe strcmp(name, foundUser.pointee.pw_name) != 0 { return false }
    unsafe member = member.map { unsafe $0 + 1 }
  }
  return true
}

/// Returns the time of the system's clock; `nil` and `errno` if it cannot be read.
///
/// The corresponding C function is `clock_gettime` with `CLOCK_REALTIME`.
package func wallClockTime() -> timespec? {
  var now = timespec()
  return unsafe clock_gettime(CLOCK_REALTIME, &now) == 0 ? now : nil
}

#if canImport(Darwin)
  /// Reads a value of the kernel into an array, which keeps its size; returns whether it was read.
  ///
  /// The corresponding C function is `sysctlbyname`.
  package func readSystemValue(_ name: String, into bytes: inout [UInt8]) -> Bool {
    var size = bytes.count
    return unsafe sysctlbyname(name, &bytes, &size, nil, 0) == 0
  }
#endif

/// Returns a number that no other thread of this process has now.
///
/// The corresponding C function is `pthread_self`.
package func currentThreadNumber() -> UInt {
  #if canImport(Darwin)
    unsafe UInt(bitPattern: pthread_self())
  #else
    UInt(pthread_self())
  #endif
}

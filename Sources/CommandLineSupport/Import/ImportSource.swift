internal import Foundation
internal import SystemInterface

/// The file of an import as a descriptor.
package final class ImportSource {
  package let descriptor: Int32
  /// The name in messages.
  package let name: String

  /// Opens the file, or standard input for `-`.
  ///
  /// A pipe that must be seekable is first copied to a temporary file, which only its owner can read
  /// and which has no name.
  ///
  /// - Throws: ``CommandFailure``.
  package init(_ path: String, mustBeSeekable: Bool) throws {
    name = path == "-" ? "standard input" : path
    let opened = try InputPath.open(path)
    guard mustBeSeekable, lseek(opened, 0, SEEK_CUR) != 0 else {
      descriptor = opened
      return
    }
    defer { close(opened) }
    descriptor = try Self.copy(opened, name)
  }

  deinit {
    close(descriptor)
  }

  private static func copy(_ source: Int32, _ name: String) throws -> Int32 {
    let copy = UnnamedFile.create()
    guard copy >= 0 else {
      throw CommandFailure(
        .cannotCreate,
        "cannot create a file in \(UnnamedFile.folder.path()): \(systemErrorText())"
      )
    }
    let input = FileHandle(fileDescriptor: source, closeOnDealloc: false)
    let output = FileHandle(fileDescriptor: copy, closeOnDealloc: false)
    do {
      while let part = try input.read(upToCount: 1 << 18), !part.isEmpty {
        try output.write(contentsOf: part)
      }
      try output.seek(toOffset: 0)
    } catch {
      close(copy)
      throw CommandFailure(.inputOutput, "cannot read \(name) into \(UnnamedFile.folder.path())")
    }
    return copy
  }
}

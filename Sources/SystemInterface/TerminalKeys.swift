/// The mode of a terminal in which a program reads each key as it is pressed, and no key is echoed.
///
/// Ctrl-C and Ctrl-Z still send signals.
package struct TerminalKeys {
  private let descriptor: Int32
  private let original: termios

  /// Reads the current mode, and does not change it; `nil` if the descriptor is no terminal.
  package init?(_ descriptor: Int32) {
    var mode = termios()
    guard unsafe tcgetattr(descriptor, &mode) == 0 else { return nil }
    self.descriptor = descriptor
    original = mode
  }

  /// Begins to read keys.
  ///
  /// Call this in the foreground of the terminal only: the system stops a background process that
  /// changes the mode.
  package func begin() {
    var mode = original
    mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
    unsafe tcsetattr(descriptor, TCSADRAIN, &mode)
  }

  /// Restores the mode that the terminal had before.
  package func end() {
    var mode = original
    unsafe tcsetattr(descriptor, TCSADRAIN, &mode)
  }
}

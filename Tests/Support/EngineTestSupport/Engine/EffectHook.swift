package import DownloadSync
internal import SystemInterface

/// An effect gate that calls a closure before each effect, and records the effects that happened.
package final class EffectHook: FaultInjector {
  private let effects = Mutex<[Effect]>([])
  private let refuse: @Sendable (Effect) -> Int32?

  /// Creates a gate.
  ///
  /// - Parameter refuse: Called before each effect, on the thread that performs it. Returns the
  ///   error number that the effect fails with, or `nil` to allow it.
  package init(_ refuse: @escaping @Sendable (Effect) -> Int32? = { _ in nil }) {
    self.refuse = refuse
  }

  /// The effects that happened, in order.
  package var performed: [Effect] { effects.withLock { $0 } }

  package func refusal(of effect: Effect) -> Int32? { refuse(effect) }

  package func didPerform(_ effect: Effect) {
    effects.withLock { $0.append(effect) }
  }
}

extension EngineEnvironment {
  /// Returns the real environment with a gate.
  package static func live(_ faultInjector: any FaultInjector) -> Self {
    var environment = live
    environment.faultInjector = faultInjector
    return environment
  }
}

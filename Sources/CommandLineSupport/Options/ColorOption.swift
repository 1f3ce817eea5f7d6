internal import ArgumentParser

/// The option `--color`.
package struct ColorOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      When to color: auto, always or never. 'auto' colors on a terminal, and obeys NO_COLOR and \
      CLICOLOR_FORCE.
      """,
      valueName: "when"
    )
  )
  package var color = ColorChoice.auto

  package init() {}
}

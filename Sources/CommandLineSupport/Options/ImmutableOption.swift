internal import ArgumentParser

/// The option of commands that only read the store.
package struct ImmutableOption: ParsableArguments {
  @Flag(
    help: ArgumentHelp(
      "Read the store without locks, because no process writes it meanwhile.",
      discussion:
        "Needed on a read-only file system. If a process does write the store, the output "
        + "may be wrong."
    )
  )
  package var immutable = false

  package init() {}
}

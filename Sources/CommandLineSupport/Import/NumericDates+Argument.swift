internal import ArgumentParser
internal import ProgramOutput

extension NumericDates: ExpressibleByArgument {}

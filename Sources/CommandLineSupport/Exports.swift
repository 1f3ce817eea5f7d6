// The output of programs, without the parser of command lines.
@_exported public import ProgramOutput

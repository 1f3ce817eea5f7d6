/// The time after which a wait of a test is a hang.
///
/// Less than the time limit of a suite, so that the wait fails first and says what it waited for.
public let hangLimit = Duration.seconds(540)

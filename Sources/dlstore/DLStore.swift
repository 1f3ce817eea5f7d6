internal import DownloadCommands

@main
enum DLStore {
  static func main() async {
    await DLStoreCommand.start()
  }
}

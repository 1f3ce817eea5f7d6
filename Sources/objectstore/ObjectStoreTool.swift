import ObjectStoreCommands

@main
enum ObjectStoreTool {
  static func main() async {
    await ObjectStoreCommand.start()
  }
}

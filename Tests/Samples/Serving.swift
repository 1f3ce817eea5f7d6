// What the samples of DownloadServer stand in.
import DownloadServer
import DownloadStore

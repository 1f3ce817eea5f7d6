// What the samples of DownloadServer and DownloadMetrics stand in.
import DownloadMetrics
import DownloadServer
import DownloadStore

import DownloadStore
import TestSupport

extension DownloadRecord {
  /// The expected output of the second reader for the fields.
  var printed: [String: JSON] {
    [
      "allowsCellular": JSON(allowsCellular),
      "bytesPerSecond": .optional(bytesPerSecond) { JSON($0) },
      "attempts": .list(attempts.map(\.printed)),
      "connections": .optional(connections) { JSON($0) },
      "completedAt": .optional(completedAt) { JSON($0) },
      "checkedAt": .optional(checkedAt) { JSON($0) },
      "createdAt": JSON(createdAt),
      "destination": JSON(destination),
      "entityTag": .optional(entityTag) { JSON($0) },
      "expected": .optional(expected) { JSON($0) },
      "expectedDigest": .optional(expectedDigest) { JSON($0) },
      "failedAttempts": JSON(failedAttempts),
      "filename": JSON(filename),
      "folder": JSON(folder),
      "generation": JSON(generation),
      "hasForeignFile": JSON(hasForeignFile),
      "hasHeaders": JSON(hasHeaders),
      "hasPieceDigests": JSON(hasPieceDigests),
      "id": JSON(id),
      "intent": JSON(intent.rawValue),
      "isHeld": JSON(isHeld),
      "isNameGiven": JSON(isNameGiven),
      "keys": JSON(keys),
      "requiresName": JSON(requiresName),
      "keepVersions": .optional(keepVersions) { JSON($0) },
      "keptVersions": .list(
        keptVersions.map {
          .members([
            "filename": JSON($0.filename), "identity": $0.identity.printed,
            "number": JSON($0.number),
          ])
        }
      ),
      "lastModified": .optional(lastModified) { JSON($0) },
      "mirrors": JSON(mirrors),
      "nextRetryAt": .optional(nextRetryAt) { JSON($0) },
      "notBefore": .optional(notBefore) { JSON($0) },
      "partialIdentity": .optional(partialIdentity) { $0.printed },
      "partialWrittenAt": .optional(partialWrittenAt) { JSON($0) },
      "pendingHooks": JSON(Set(pendingHooks.map(\.rawValue))),
      "prefersBackground": JSON(prefersBackground),
      "priority": JSON(priority),
      "ranges": .optional(ranges) { _ in
        .list(committed.ranges.map { .list([JSON($0.lowerBound), JSON($0.upperBound)]) })
      },
      "received": JSON(received),
      "refreshDates": .list(refreshDates.map { JSON($0) }),
      "refreshEvery": .optional(refreshEvery) { JSON($0) },
      "refreshed": .optional(refreshed) { $0.printed },
      "removesFile": JSON(removesFile),
      "replacedFileIdentity": .optional(replacedFileIdentity) { $0.printed },
      "resolvedBytes": JSON(resolvedBytes),
      "resumeData": .optional(resumeData) { JSON($0) },
      "root": JSON(root),
      "fileIdentity": .optional(fileIdentity) { $0.printed },
      "startsImmediately": JSON(startsImmediately),
      "state": JSON(state.rawValue),
      "tags": JSON(tags),
      "type": JSON(type),
      "unresolvedStarts": JSON(unresolvedStarts),
      "updatedAt": JSON(updatedAt),
      "url": JSON(url),
      "validatorOrigin": .optional(validatorOrigin) { JSON($0) },
      "verifiedDigest": .optional(verifiedDigest) { JSON($0) },
    ]
  }
}

extension Attempt {
  var printed: JSON {
    .members([
      "at": JSON(at),
      "code": JSON(failure.code.rawValue),
      "detail": JSON(failure.detail?.rawValue ?? ""),
      "message": JSON(failure.message),
      "received": JSON(received),
      "url": JSON(url),
    ])
  }
}

extension FileIdentity {
  var printed: JSON {
    .members(["inode": JSON(inode), "modified": JSON(modified), "size": JSON(size)])
  }
}

extension FinishedVersion {
  var printed: JSON {
    .members([
      "awaitsHook": JSON(awaitsHook),
      "awaitsWebhook": JSON(awaitsWebhook),
      "completedAt": JSON(completedAt),
      "entityTag": JSON(entityTag ?? ""),
      "hasPieceDigests": JSON(hasPieceDigests),
      "lastModified": JSON(lastModified ?? ""),
      "validatorOrigin": JSON(validatorOrigin ?? ""),
      "verifiedDigest": JSON(verifiedDigest ?? ""),
    ])
  }
}

extension HeaderField {
  var printed: JSON { .members(["name": JSON(name), "value": JSON(value)]) }
}

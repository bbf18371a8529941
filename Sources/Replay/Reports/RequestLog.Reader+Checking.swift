import BeagleNet
import BeagleNetHTTP

extension RequestLog.Reader {
    /// Reads and checks the whole log.
    ///
    /// - Parameter report: receives warnings about skipped records, losses, and missing or damaged body files.
    /// - Returns: a summary of the log's contents.
    /// - Throws: `NetworkError` of kind `.file` if the directory cannot be read.
    package func check(_ report: (Recording.Warning) -> Void) throws(NetworkError) -> HARReader.Validator.Summary {
        var summary = HARReader.Validator.Summary()
        let entries = try entries()
        let recording = Recording([], directory: directory.path)
        for warning in entries.warnings { report(warning) }
        // Only the first skipped records have warnings.
        summary.errors = max(entries.skipped, entries.warnings.count)
        for (index, entry) in entries.enumerated() {
            summary.entries += 1
            summary.count(entry, in: recording)
            let bodies = [("request.postData", entry.request.body), ("response.content", entry.response?.body)]
            for (place, body) in bodies {
                guard let damage = recording.damage(of: body) else { continue }
                summary.errors += 1
                let path = "$.log.entries[\(index)].\(place)._file"
                report(Recording.Warning(file: directory.path, path: path, reason: damage.message))
            }
        }
        return summary
    }
}

import Foundation
import TestPrograms

/// Headless Chromium.
enum Chromium {
    static var isInstalled: Bool { program != nil }

    private static let program = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .flatMap { folder in ["chromium", "chromium-browser", "google-chrome"].map { "\(folder)/\($0)" } }
        .first(where: FileManager.default.isExecutableFile)

    /// A loaded page.
    struct Page {
        /// The elements after its scripts ran.
        let elements: String
        /// The browser's log.
        let notes: String

        /// The number of occurrences of a text in the elements.
        func count(of text: String) -> Int { elements.components(separatedBy: text).count - 1 }
    }

    /// Opens a page from a file.
    static func open(_ page: Data, _ address: String = "") async throws -> Page {
        let directory = FileManager.default.temporaryDirectory.appending(path: "chromium-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appending(path: "page.html")
        try page.write(to: file)
        let notes = directory.appending(path: "notes")
        try Data().write(to: notes)
        // Root has no sandbox; the page is ours, and shared memory is small in containers.
        let arguments = [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--user-data-dir=\(directory.appending(path: "profile").path)", "--enable-logging=stderr",
            "--virtual-time-budget=5000", "--dump-dom", "\(file.absoluteString)\(address)",
        ]
        let (_, elements) = try await Program.run(
            program ?? "chromium",
            arguments,
            errors: try FileHandle(forWritingTo: notes)
        )
        return Page(
            elements: String(decoding: elements, as: UTF8.self),
            notes: String(decoding: try Data(contentsOf: notes), as: UTF8.self)
        )
    }
}

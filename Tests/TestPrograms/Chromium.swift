package import Foundation

/// Headless Chromium.
package enum Chromium {
    package static var isInstalled: Bool { program != nil }

    private static let program = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .flatMap { folder in ["chromium", "chromium-browser", "google-chrome"].map { "\(folder)/\($0)" } }
        .first(where: FileManager.default.isExecutableFile)

    /// A loaded page.
    package struct Page {
        /// The elements after its scripts ran.
        package let elements: String
        /// The browser's log.
        package let notes: String

        /// The number of occurrences of a text in the elements.
        package func count(of text: String) -> Int { elements.components(separatedBy: text).count - 1 }
    }

    /// Opens a page from a file.
    package static func open(_ page: Data, _ address: String = "") async throws -> Page {
        try await withDirectory { directory in
            let (output, notes) = try await run(
                ["--virtual-time-budget=5000", "--dump-dom"],
                page,
                address,
                in: directory
            )
            return Page(elements: String(decoding: output, as: UTF8.self), notes: notes)
        }
    }

    /// Opens a page from a file in a window of this size, and returns its PNG, with one pixel for each of CSS.
    package static func screenshot(of page: Data, width: Int, height: Int) async throws -> Data {
        try await withDirectory { directory in
            let image = directory.appending(path: "page.png")
            let arguments = [
                "--screenshot=\(image.path)", "--window-size=\(width),\(height)", "--hide-scrollbars",
                "--force-device-scale-factor=1",
            ]
            _ = try await run(arguments, page, in: directory)
            return try Data(contentsOf: image)
        }
    }

    private static func withDirectory<R>(_ body: (URL) async throws -> R) async throws -> R {
        let directory = FileManager.default.temporaryDirectory.appending(path: "chromium-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: directory) }
        return try await body(directory)
    }

    private static func run(
        _ arguments: [String],
        _ page: Data,
        _ address: String = "",
        in directory: URL
    ) async throws -> (output: Data, notes: String) {
        let file = directory.appending(path: "page.html")
        try page.write(to: file)
        let notes = directory.appending(path: "notes")
        try Data().write(to: notes)
        // Root has no sandbox; the page is ours, and shared memory is small in containers.
        let standard = [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--user-data-dir=\(directory.appending(path: "profile").path)", "--enable-logging=stderr",
        ]
        let (_, output) = try await Program.run(
            program ?? "chromium",
            standard + arguments + ["\(file.absoluteString)\(address)"],
            errors: try FileHandle(forWritingTo: notes)
        )
        return (output, String(decoding: try Data(contentsOf: notes), as: UTF8.self))
    }
}

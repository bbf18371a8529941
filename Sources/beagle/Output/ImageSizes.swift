import BeagleNet
import Foundation

/// The sizes, in bytes, of the images that two screens have under the same URL or path.
struct ImageSizes {
    /// The images with two sizes, by their URL in the screens.
    private(set) var changed: [String: (old: Int, new: Int)] = [:]
    /// The first image whose size isn't known, and the reason.
    private(set) var firstUnknown: (url: String, reason: String)?
    private(set) var unknownCount = 0

    /// The maximum number of images.
    private static let maxCount = 200

    /// Loads the images of both screens.
    ///
    /// - Parameters:
    ///   - oldImages: The loader of the old screen's images, or `nil` if its paths have no base URL.
    ///   - newImages: The loader of the new screen's images.
    /// - Throws: Only if the task is cancelled.
    mutating func compare(
        _ old: ScreenPlan,
        _ oldImages: ScreenImages?,
        _ new: ScreenPlan,
        _ newImages: ScreenImages?
    ) async throws {
        let known = Set(old.imageURLs)
        var (seen, count) = (Set<String>(), 0)
        for url in new.imageURLs where known.contains(url) && seen.insert(url).inserted {
            if let oldImages, let newImages, count < Self.maxCount {
                // The same URL has the same image.
                if oldImages.isSame(url, as: newImages) { continue }
                count += 1
                let sizes = (try await oldImages.size(of: url), try await newImages.size(of: url))
                switch sizes {
                case (.success(let old), .success(let new)): if old != new { changed[url] = (old, new) }
                case (.failure(let failure), _), (_, .failure(let failure)): add(url, failure.reason)
                }
            } else if URL(string: url)?.scheme == nil {
                add(url, count < Self.maxCount ? "a file has no base URL; add --base" : "there are too many images")
            }
        }
    }

    private mutating func add(_ url: String, _ reason: String) {
        firstUnknown = firstUnknown ?? (url, reason)
        unknownCount += 1
    }

    /// A message about unknown sizes; `nil` if all sizes are known.
    var note: String? {
        firstUnknown.map {
            "beagle: image sizes that were not compared: \(unknownCount), such as \($0.url): \($0.reason)".printable
        }
    }
}

extension ScreenPlan {
    fileprivate var imageURLs: [String] {
        references.filter { $0.kind == .image && $0.obstacle != .otherScheme }.compactMap(\.resolvedURL)
    }
}

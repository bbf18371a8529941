// Images: priorities, fallbacks, events and prefetching.
import BeagleNet

func show(_ bytes: Data) async {}

func load(_ loader: ImageLoader) async throws {
    // snippet.image
    let image = try await loader.image("/img/banner.png", fallbacks: ["/img/default.png"], priority: .high)
    await show(image.data)
    print(image.format?.rawValue ?? "unknown", image.header?.width ?? 0, image.source)
    // snippet.end
}

func events(_ loader: ImageLoader) async throws {
    // snippet.events
    let task = loader.start(ImageRequest("/img/banner.png", priority: .low))
    for await event in task.events {
        switch event {
        case .stored(let image): await show(image.data)
        case .progress(let received, let total): print(received, total ?? 0)
        case .snapshot(let bytes): await show(bytes)
        }
    }
    await show(try await task.image.data)
    // snippet.end
}

func scroll(_ loader: ImageLoader, _ task: ImageTask) {
    // snippet.priority
    task.raise(to: .interactive)  // the image became visible
    task.cancel()  // the image left the screen
    // snippet.end
}

func prefetch(_ loader: ImageLoader) {
    // snippet.prefetch
    let prefetcher = ImageLoader.Prefetcher(loader)
    prefetcher.prefetch(["/img/1.png", "/img/2.png", "/img/3.png"])
    prefetcher.isPaused = true  // while the user scrolls
    prefetcher.isPaused = false
    // snippet.end
}

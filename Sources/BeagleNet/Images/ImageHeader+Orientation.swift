extension ImageHeader {
    /// The way in which an image is turned and mirrored to show it.
    ///
    /// The raw values are those of EXIF and TIFF (TIFF 6.0, 8), and of `CGImagePropertyOrientation`.
    public enum Orientation: Int, Sendable, Hashable, CaseIterable {
        /// As it is stored.
        case up = 1
        /// Left and right are exchanged.
        case upMirrored = 2
        /// Turned by 180°.
        case down = 3
        /// Left and right are exchanged, and then the image is turned by 180°: top and bottom are exchanged.
        case downMirrored = 4
        /// Left and right are exchanged, and then the image is turned by 90° counterclockwise: rows become columns.
        case leftMirrored = 5
        /// Turned by 90° clockwise, as photos of a phone that was held upright.
        case right = 6
        /// Left and right are exchanged, and then the image is turned by 90° clockwise.
        case rightMirrored = 7
        /// Turned by 90° counterclockwise.
        case left = 8

        /// Whether the width of the stored image is the height of the shown one.
        var swapsSides: Bool { rawValue >= 5 }
    }
}

// MARK: - Transformations

extension ImageHeader.Orientation {
    /// Creates an orientation that exchanges left and right if `isMirrored`, and then turns the image clockwise.
    init(isMirrored: Bool = false, quarterTurns: Int) {
        switch quarterTurns & 3 {
        case 0: self = isMirrored ? .upMirrored : .up
        case 1: self = isMirrored ? .rightMirrored : .right
        case 2: self = isMirrored ? .downMirrored : .down
        default: self = isMirrored ? .leftMirrored : .left
        }
    }

    private var isMirrored: Bool {
        switch self {
        case .up, .right, .down, .left: false
        case .upMirrored, .rightMirrored, .downMirrored, .leftMirrored: true
        }
    }

    private var quarterTurns: Int {
        switch self {
        case .up, .upMirrored: 0
        case .right, .rightMirrored: 1
        case .down, .downMirrored: 2
        case .left, .leftMirrored: 3
        }
    }

    /// Returns the orientation of an image that is also transformed by another one afterwards.
    func followed(by next: ImageHeader.Orientation) -> ImageHeader.Orientation {
        // To exchange left and right after a turn is to exchange them before a turn in the other direction.
        let turns = next.isMirrored ? -quarterTurns : quarterTurns
        return ImageHeader.Orientation(
            isMirrored: isMirrored != next.isMirrored,
            quarterTurns: turns + next.quarterTurns
        )
    }
}

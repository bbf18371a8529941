/// A value behind a reference, so that it is cheap to pass around. A shared value is copied before it is modified.
///
/// It is inlinable, because otherwise each access from another module would be a function call.
@usableFromInline
package struct CopyOnWrite<Value: Sendable>: Sendable {
    /// `@unchecked Sendable` is sound because `value` is only written by `CopyOnWrite.value`, which first makes sure
    /// that the box isn't shared.
    ///
    /// All other accesses are reads.
    @usableFromInline
    final class Box: @unchecked Sendable {
        // Unchecked, because reads and writes never overlap, and a check would cost a runtime call per access.
        @exclusivity(unchecked) @usableFromInline var value: Value

        @inlinable
        init(_ value: Value) {
            self.value = value
        }
    }

    @usableFromInline var box: Box

    @inlinable
    package init(_ value: Value) {
        box = Box(value)
    }

    /// Whether both are unchanged copies of one value.
    @inlinable
    package func isSame(as other: CopyOnWrite) -> Bool { box === other.box }

    @inlinable package var value: Value {
        _read { yield box.value }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
            yield &box.value
        }
    }
}

public import BeagleNetDependencies
public import BeagleNetHTTP

extension ScreenRequest {
    /// The rules for requests that screens ask for: a server names the URLs, methods and header fields of actions,
    /// forms, routes, lazy components and images.
    ///
    /// ```swift
    /// dependencies.screenRequestRules.standard.hosts["pay.example.com"] = [.get, .post]
    /// ```
    ///
    /// By default, a screen may ask for
    /// - http and https, but not for http if the screen itself has https, because the connection of a screen must not
    ///   be better protected than the requests that it causes;
    /// - every method at the screen's own origin;
    /// - only safe methods (RFC 9110, 9.2.1) at the app's other declared origins, so that a screen of one backend can't
    ///   change anything at another with the app's credentials;
    /// - images, by GET and without header fields, at any other host, because images of other hosts are common and
    ///   receive no credentials;
    /// - nothing else at other hosts, which could collect the user's data;
    /// - no header fields that carry credentials (those that the container's `Redactor` knows), describe the message or
    ///   the connection (such as `Host`, `Content-Length`, `Transfer-Encoding`), say where a request comes from (such
    ///   as `Origin`, `Referer`, `Forwarded`), or replace the method (such as `X-HTTP-Method-Override`), and none that
    ///   begin with `Proxy-` or `Sec-`: the list follows the forbidden request-headers of the Fetch standard.
    ///
    /// The screen's origin is that of `ScreenContext.screen`, and without one, that of the container's base URL. If the
    /// app declares no origin (`HttpRequestBuilder.origins`, base URL), all origins count as declared.
    ///
    /// A forbidden request fails with an error of kind `.blocked`, whose `underlying` is a `Refusal`; nothing is sent.
    /// The rules apply to `ScreenAction`, `ScreenForm`, `ViewClient.prefetch(_:from:screen:partition:images:)` and the
    /// references that an `ViewClient.OfflineSet` follows, and not to URLs that the app passes itself.
    /// `HttpRequestBuilder.allowedHosts` and `TransferOptions.RedirectPolicy` limit redirects.
    public struct Rules: Sendable, Hashable {
        /// The requests that screens of one origin may ask for.
        public struct Permissions: Sendable, Hashable {
            /// The schemes in lower case; http and https by default, the only ones that can be sent.
            public var schemes: Set<String> = ["http", "https"]
            /// Whether a screen with https may ask for http; `false` by default.
            public var allowsDowngrade = false
            /// The methods at the screen's own origin; `nil`, the default, for every method.
            public var ownMethods: Set<HTTPRequest.Method>?
            /// The methods at the app's other declared origins; GET, HEAD and OPTIONS by default.
            public var otherMethods: Set<HTTPRequest.Method> = [.get, .head, .options]
            /// The methods at further hosts, in place of `otherMethods` if the host is declared; empty by default.
            public var hosts: [String: Set<HTTPRequest.Method>] = [:]
            /// Whether images may come from any host; `true` by default.
            public var allowsImagesOfAllHosts = true
            /// The fields that a screen may set although they are refused by default; empty by default.
            public var fields: Set<HTTPField.Name> = []

            /// The documented defaults.
            public init() {}
        }

        /// The permissions of screens whose origin isn't in `origins`; the documented defaults at first.
        public var standard = Permissions()
        /// The permissions by the screen's origin; empty by default.
        public var origins: [Origin: Permissions] = [:]

        /// The documented defaults.
        public init() {}
    }
}

extension BeagleDependencies {
    /// The rules for requests that screens ask for; the documented defaults at first.
    public var screenRequestRules: ScreenRequest.Rules {
        get { self[ScreenRequestRulesKey.self] }
        set { self[ScreenRequestRulesKey.self] = newValue }
    }
}

enum ScreenRequestRulesKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> ScreenRequest.Rules { ScreenRequest.Rules() }
}

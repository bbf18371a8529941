import BeagleNetHTTP
import Testing

struct IPAddressTests {
    /// The first and last address of each block and their neighbours (RFC 6890 and later registrations).
    static let scopes: [(IPAddress.Scope, [String])] = [
        (
            .global,
            [
                "1.0.0.0", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
                "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.0.3.0",
                "192.88.98.255", "192.88.100.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0",
                "198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255", "2000::",
                "2001:200::", "2001:db7:ffff::", "2001:db9::", "2606:4700::1111", "3ffe::", "3fff:1000::",
                "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1",
            ]
        ),
        (.loopback, ["127.0.0.0", "127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"]),
        (
            .privateNetwork,
            [
                "10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255",
                "fc00::", "fd00:ec2::254", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fec0::1", "feff::1",
                "64:ff9b:1::8.8.8.8", "::ffff:10.0.0.1", "::ffff:c0a8:101", "64:ff9b::10.0.0.1", "2002:a00:1::",
            ]
        ),
        (
            .linkLocal,
            [
                "169.254.0.0", "169.254.169.254", "169.254.255.255", "fe80::1", "febf::1", "::ffff:169.254.169.254",
                "2002:a9fe:a9fe::", "64:ff9b::a9fe:a9fe",
            ]
        ),
        (.shared, ["100.64.0.0", "100.100.100.200", "100.127.255.255", "::ffff:100.64.0.1"]),
        (.multicast, ["224.0.0.0", "239.255.255.255", "ff02::1", "::ffff:224.0.0.1"]),
        (.unspecified, ["0.0.0.0", "0.255.255.255", "::", "::ffff:0.0.0.0"]),
        (
            .reserved,
            [
                "192.0.0.0", "192.0.0.255", "192.0.2.1", "192.88.99.1", "198.18.0.0", "198.19.255.255", "198.51.100.1",
                "203.0.113.255", "240.0.0.0", "255.255.255.255", "2001::1", "2001:1ff::", "2001:db8::1", "3fff::",
                "3fff:fff::", "100::1", "::2", "::127.0.0.1", "::8.8.8.8", "64:ff9b::1:0:0", "4000::", "5f00::1",
                "1fff::1", "fe00::1", "::fffe:8.8.8.8",
            ]
        ),
    ]

    @Test(arguments: scopes)
    func scopeIsThatOfTheAddressBlock(_ scope: IPAddress.Scope, _ addresses: [String]) throws {
        for text in addresses {
            #expect(try #require(IPAddress(text)).scope == scope, "\(text)")
        }
    }

    private static let addressIsWrittenInItsShortFormArguments: [(String, String)] = [
        ("127.0.0.1", "127.0.0.1"), ("[::1]", "::1"), ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"), ("::", "::"),
        ("255.255.255.255", "255.255.255.255"), ("::ffff:10.0.0.1", "::ffff:10.0.0.1"),
    ]

    @Test(arguments: Self.addressIsWrittenInItsShortFormArguments)
    func addressIsWrittenInItsShortForm(_ text: String, _ short: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == short)
        #expect(IPAddress(short) == address)
    }

    /// Other parsers accept some of these as 127.0.0.1.
    @Test(arguments: [
        "", "127.1", "0x7f.0.0.1", "2130706433", "127.0.0.1 ", "017700000001", "[127.0.0.1", "a.b", ":::",
    ])
    func invalidAddressIsRejected(_ text: String) {
        #expect(IPAddress(text) == nil)
    }

    private static let networkContainsItsAddressesArguments: [(String, String, Bool)] = [
        ("::1/64", "::1", true), ("::1/64", "::ffff", true), ("::1/64", "0:0:0:1::1", false),
        ("::/0", "2001:db8::1", true),
        ("::1/128", "::1", true), ("::1/128", "::2", false), ("::1", "0:0:0:0:0:0:0:1", true), ("::1", "::2", false),
        ("fd00::/8", "fdff::1", true), ("fd00::/8", "fe00::1", false), ("2001:db8::/65", "2001:db8::7fff:0:0:1", true),
        ("2001:db8::/65", "2001:db8::8000:0:0:1", false), ("[fd00::1]/8", "fd00::", true),
        ("127.0.0.0/8", "127.1.2.3", true), ("127.0.0.0/8", "128.0.0.0", false), ("0.0.0.0/0", "255.1.1.1", true),
        ("10.0.0.0/31", "10.0.0.1", true), ("10.0.0.0/31", "10.0.0.2", false), ("10.0.0.1/32", "10.0.0.1", true),
        ("0.0.0.0/0", "::1", false), ("::/0", "127.0.0.1", false),
    ]

    @Test(arguments: Self.networkContainsItsAddressesArguments)
    func networkContainsItsAddresses(_ network: String, _ address: String, _ isInside: Bool) throws {
        #expect(try #require(IPNetwork(network)).contains(#require(IPAddress(address))) == isInside)
    }

    @Test(arguments: [
        "", "/8", "::1/", "::1/129", "127.0.0.1/33", "::1/-1", "::1/+1", "::1/64/1", "host/8", "127.1/8", "::1/ 1",
    ])
    func invalidNetworkIsRejected(_ text: String) {
        #expect(IPNetwork(text) == nil)
    }
}

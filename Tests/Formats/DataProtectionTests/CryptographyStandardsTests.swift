// Key wrap, key agreement, key derivation and GCM, against the test vectors of their standards.

import Testing

@testable import DataProtection

@Suite("Primitives against their standards")
struct CryptographyStandardsTests {
    @Test("RFC 3394, 4.6: 256 bits under 256 bits")
    func keyWrap() throws {
        let wrap = KeyWrap(under: SecretCell(copying: [UInt8](0..<32)))
        let data = hex("00112233445566778899AABBCCDDEEFF000102030405060708090A0B0C0D0E0F")
        let wrapped = hex("28C9F404C4B810F4CBCCB35CFB87F8263F5786E2D80ED326CBC7F0E71A99F43BFB988B9B7A02DD21")
        #expect(wrap.wrap(SecretCell(copying: data)) == wrapped)
        #expect(wrap.unwrap(wrapped)?.bytes == data)
        // Again, because the schedules are reused.
        #expect(wrap.wrap(SecretCell(copying: data)) == wrapped)
        #expect(wrap.unwrap(wrapped)?.bytes == data)
    }

    @Test("Key wrap of all bits clear, and of all bits set, equals an independent computation")
    func keyWrapEnds() {
        let cases: [(UInt8, String)] = [
            (0x00, "97317494343807e690fd1e431413963dc0e3deb4907fb89fa36ce65126d0ea1301381fb3a2941e2f"),
            (0xff, "c5cd49443ffeb12d6a7c72b7665ca1e341d68a6e6fc54fcf77b567a3ce15be9ec76e27121e648c44"),
        ]
        for (byte, wrapped) in cases {
            let wrap = KeyWrap(under: SecretCell(copying: [UInt8](repeating: byte, count: 32)))
            #expect(wrap.wrap(SecretCell(copying: [UInt8](repeating: byte, count: 32))) == hex(wrapped))
            #expect(wrap.unwrap(hex(wrapped))?.bytes == [UInt8](repeating: byte, count: 32))
        }
    }

    @Test("A wrapped key with any bit changed, or cut, does not unwrap")
    func keyWrapIntegrity() {
        let wrap = KeyWrap(under: SecretCell.random())
        let wrapped = wrap.wrap(SecretCell.random())
        for bit in 0..<wrapped.count * 8 {
            var changed = wrapped
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(wrap.unwrap(changed)?.bytes == nil)
        }
        #expect(wrap.unwrap(wrapped.dropLast())?.bytes == nil)
        #expect(wrap.unwrap([])?.bytes == nil)
    }

    @Test("RFC 7748, 6.1: Curve25519")
    func agreement() throws {
        let alice = Agreement.Pair(
            SecretCell(copying: hex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a")))
        let bob = Agreement.Pair(
            SecretCell(copying: hex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")))
        #expect(alice.publicKey == hex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"))
        #expect(bob.publicKey == hex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"))
        let shared = hex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")
        #expect(alice.sharedSecret(with: bob.publicKey)?.bytes == shared)
        #expect(bob.sharedSecret(with: alice.publicKey)?.bytes == shared)
    }

    @Test("RFC 7748, 5.2: X25519, of single points and iterated a thousand times")
    func ladder() {
        let cases = [
            (
                "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
                "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
                "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
            ),
            (
                "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
                "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
                "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"
            ),
        ]
        for (scalar, point, product) in cases {
            let pair = Agreement.Pair(SecretCell(copying: hex(scalar)))
            #expect(pair.sharedSecret(with: hex(point))?.bytes == hex(product))
        }
        var scalar = [9] + [UInt8](repeating: 0, count: 31)
        var point = scalar
        for step in 1...1000 {
            guard let next = Agreement.Pair(SecretCell(copying: scalar)).sharedSecret(with: point)?.bytes else {
                Issue.record("no secret in step \(step)")
                return
            }
            (scalar, point) = (next, scalar)
            if step == 1 {
                #expect(scalar == hex("422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"))
            }
        }
        #expect(scalar == hex("684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"))
    }

    @Test("The KDF of class B equals an independent computation, and depends on the order of the keys")
    func oneStepDerivation() {
        let alice = hex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
        let bob = hex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f")
        let shared = SecretCell(copying: hex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"))
        let wrapped = hex("03a1160a0147f72dd651d923a6669ec44f6dde79d1dee14973ca0520e9a6a754f2dc0ca312d8112b")
        let key = SecretCell(copying: [UInt8](0..<32))
        #expect(Agreement.wrappingKey(shared: shared, ephemeral: alice, classPublic: bob).wrap(key) == wrapped)
        #expect(Agreement.wrappingKey(shared: shared, ephemeral: bob, classPublic: alice).wrap(key) != wrapped)
    }

    @Test("A public key of small order, or of another length, gives no secret")
    func smallOrder() {
        let pair = Agreement.Pair(SecretCell.random())
        #expect(pair.sharedSecret(with: [UInt8](repeating: 0, count: 32))?.bytes == nil)
        #expect(pair.sharedSecret(with: [1] + [UInt8](repeating: 0, count: 31))?.bytes == nil)
        #expect(pair.sharedSecret(with: [9])?.bytes == nil)
    }

    @Test("RFC 7914, 12: scrypt, the first half of each answer")
    func scrypt() throws {
        let cases: [(String, String, Int, UInt32, UInt32, String)] = [
            ("", "", 4, 1, 1, "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"),
            ("password", "NaCl", 10, 8, 16, "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"),
            (
                "pleaseletmein", "SodiumChloride", 14, 8, 1,
                "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
            ),
        ]
        for (passcode, salt, level, blockSize, parallelism, answer) in cases {
            let cost = try #require(PasscodeCost(level: level, blockSize: blockSize, parallelism: parallelism))
            let key = Derivation.scrypt(Array(passcode.utf8), salt: Array(salt.utf8), cost: cost)
            #expect(key.bytes == hex(answer))
        }
    }

    @Test("RFC 5869, A.1 to A.3: HKDF, the first 32 bytes of each answer")
    func hkdf() {
        let cases: [(key: [UInt8], salt: [UInt8], label: [UInt8], answer: String)] = [
            (
                [UInt8](repeating: 0x0b, count: 22), [UInt8](0x00...0x0c), [UInt8](0xf0...0xf9),
                "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
            ),
            (
                [UInt8](0x00...0x4f), [UInt8](0x60...0xaf), [UInt8](0xb0...0xff),
                "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c"
            ),
            (
                [UInt8](repeating: 0x0b, count: 22), [], [],
                "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
            ),
        ]
        for one in cases {
            var key = one.key
            let derived = unsafe key.withUnsafeMutableBytes {
                unsafe Derivation.hkdf($0, salt: one.salt, label: one.label).bytes
            }
            #expect(derived == hex(one.answer))
        }
    }

    @Test("RFC 4231, 4.2 and 4.3 with keys padded to 32 bytes: HMAC-SHA-256")
    func authenticationCode() {
        let padded = hex("0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b") + [UInt8](repeating: 0, count: 12)
        #expect(
            Derivation.authenticationCode(SecretCell(copying: padded), over: Array("Hi There".utf8))
                == hex("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"))
    }

    @Test("McGrew and Viega's cases 13, 14 and 16, which NIST took over: AES-256-GCM")
    func gcm() throws {
        let key = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"
        let zero = String(repeating: "0", count: 64)
        let cases: [(key: String, nonce: String, data: String, plain: String, cipher: String, tag: String)] = [
            (zero, "000000000000000000000000", "", "", "", "530f8afbc74536b9a963b4f1c4cb738b"),
            (
                zero, "000000000000000000000000", "", "00000000000000000000000000000000",
                "cea7403d4d606b6e074ec5d3baf39d18", "d0d1c8a799996bf0265b98b5d48ab919"
            ),
            (
                key, "cafebabefacedbaddecaf888", "feedfacedeadbeeffeedfacedeadbeefabaddad2",
                "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
                    + "b16aedf5aa0de657ba637b39",
                "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838"
                    + "c5f61e6393ba7a0abcc9f662",
                "76fc6ece0f4e1768cddf8853bb2d551b"
            ),
        ]
        // One context for all of them, each twice: nothing is left over from the one before.
        let context = GCMContext()
        for one in cases + cases {
            let fileKey = FileKey(SecretCell(copying: hex(one.key)))
            let (nonce, data, plain) = (hex(one.nonce), hex(one.data), hex(one.plain))
            var bytes = plain + [0]
            var tag = [UInt8](repeating: 0, count: 16)
            unsafe bytes.withUnsafeMutableBytes { bytes in
                unsafe context.begin(key: fileKey, nonce: nonce, encrypting: true)
                unsafe context.authenticate(data, count: data.count)
                unsafe context.transform(bytes.baseAddress!, to: bytes.baseAddress!, count: plain.count)
                unsafe context.finish(tagTo: &tag)
            }
            #expect(Array(bytes.dropLast()) == hex(one.cipher))
            #expect(tag == hex(one.tag))
            let opened = unsafe bytes.withUnsafeMutableBytes { bytes in
                unsafe context.begin(key: fileKey, nonce: nonce, encrypting: false)
                unsafe context.authenticate(data, count: data.count)
                unsafe context.transform(bytes.baseAddress!, to: bytes.baseAddress!, count: plain.count)
                return unsafe context.matches(tag: &tag)
            }
            #expect(opened)
            #expect(Array(bytes.dropLast()) == plain)
        }
    }
}

# Computes the known answers of these tests apart from the code under test: with hashlib, hmac, a ladder for X25519,
# key wrap and GCM written out on the AES-256-ECB of the openssl command. Run it to see every answer.
import hashlib, hmac, subprocess, struct
def ecb(key, data, dec=False):
    return subprocess.run(["openssl","enc","-aes-256-ecb","-nopad","-K",key.hex()]+(["-d"] if dec else []),input=data,capture_output=True,check=True).stdout
def wrap(kek, key):
    a=b"\xa6"*8; r=[key[i:i+8] for i in range(0,len(key),8)]; n=len(r)
    for j in range(6):
        for i in range(n):
            b=ecb(kek,a+r[i]); t=n*j+i+1
            a=(int.from_bytes(b[:8],'big')^t).to_bytes(8,'big'); r[i]=b[8:]
    return a+b"".join(r)
assert wrap(bytes(range(32)),bytes.fromhex("00112233445566778899AABBCCDDEEFF000102030405060708090A0B0C0D0E0F")).hex().upper()=="28C9F404C4B810F4CBCCB35CFB87F8263F5786E2D80ED326CBC7F0E71A99F43BFB988B9B7A02DD21"
P=2**255-19
def x25519(k,u):
    k=bytearray(k); k[0]&=248; k[31]&=127; k[31]|=64; k=int.from_bytes(k,'little')
    u=int.from_bytes(u,'little')&((1<<255)-1)
    x1,x2,z2,x3,z3=u,1,0,u,1; swap=0
    for t in reversed(range(255)):
        kt=(k>>t)&1; swap^=kt
        if swap: x2,x3,z2,z3=x3,x2,z3,z2
        swap=kt
        A=(x2+z2)%P;AA=A*A%P;B=(x2-z2)%P;BB=B*B%P;E=(AA-BB)%P;C=(x3+z3)%P;D=(x3-z3)%P;DA=D*A%P;CB=C*B%P
        x3=(DA+CB)**2%P; z3=x1*(DA-CB)**2%P; x2=AA*BB%P; z2=E*(AA+121665*E)%P
    if swap: x2,x3,z2,z3=x3,x2,z3,z2
    return (x2*pow(z2,P-2,P)%P).to_bytes(32,'little')
base=(9).to_bytes(32,'little')
assert x25519(bytes.fromhex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"),base).hex()=="8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"
H=lambda k,m: hmac.new(k,m,hashlib.sha256).digest()
def hkdf(ikm,salt,info): return H(H(salt,ikm),info+b"\1")
def derive(uid,ident,what): return hkdf(uid,ident,b"appcontainer keybag 1: "+what.encode())
def keybag(passcode,uid,level,rnd):
    take=lambda n: bytes(rnd.pop(0) for _ in range(n))
    ident=take(16); A,B,C,D=take(32),take(32),take(32),take(32); salt=take(32)
    mark=H(derive(uid,ident,"device mark"),ident)[:16]
    if passcode is None: k=derive(uid,ident,"without passcode")
    else:
        s=hashlib.scrypt(passcode,salt=salt,n=1<<level,r=8,p=1,dklen=32,maxmem=1<<30)
        k=H(derive(uid,ident,"passcode"),s)
    b=b"ACKEYBAG"+struct.pack("<II",1,passcode is not None)+ident+mark+salt+struct.pack("<IIII",level,8,1,0)
    b+=wrap(k,A)+x25519(B,base)+wrap(k,B)+wrap(k,C)+wrap(derive(uid,ident,"class D"),D)
    b+=H(derive(uid,ident,"authentication"),b)
    return b+hashlib.sha256(b).digest()[:24]
if __name__=="__main__":
    import textwrap
    uid=bytes((i*5+1)%256 for i in range(32))
    for name,pc in (("keybag-1-passcode.hex",b"correct horse"),("keybag-1-without-passcode.hex",None)):
        rnd=[(i*7+3)%256 for i in range(176)]
        h=keybag(pc,uid,4,rnd).hex()
        print(name); print("\n".join(textwrap.wrap(h,64)))
    # class B blob
    eph=bytes(range(100,132)); cls=bytes((i*7+3)%256 for i in range(16+32,16+64)); fk=bytes(range(200,232))
    ep=x25519(eph,base); cp=x25519(cls,base); sh=x25519(eph,cp)
    kek=hashlib.sha256(b"\0\0\0\1"+sh+ep+cp).digest()
    print("B blob",(ep+wrap(kek,fk)).hex())
    keys=[bytes((i*7+3)%256 for i in range(16+32*n,48+32*n)) for n in range(4)]
    print("file-keys-1.hex"); print("\n".join(b.hex() for b in (wrap(keys[0],fk),ep+wrap(kek,fk),wrap(keys[2],fk),wrap(keys[3],fk))))
    # the KDF of class B between Alice and Bob of RFC 7748, 6.1
    sh=bytes.fromhex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")
    a=bytes.fromhex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
    b=bytes.fromhex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f")
    print("KDF, wraps 0...31 as",wrap(hashlib.sha256(b"\0\0\0\1"+sh+a+b).digest(),bytes(range(32))).hex())
    for byte in (0,255): print("all",byte,wrap(bytes([byte]*32),bytes([byte]*32)).hex())
    # block: GCM by hand
    def gmul(x,y):
        z=0;v=x
        for i in range(128):
            if (y>>(127-i))&1: z^=v
            v=(v>>1)^(0xe1<<120) if v&1 else v>>1
        return z
    def gcm(key,iv,aad,pt):
        h=int.from_bytes(ecb(key,b"\0"*16),'big')
        n=(len(pt)+15)//16
        ks=ecb(key,b"".join(iv+struct.pack(">I",i+2) for i in range(n))) if n else b""
        ct=bytes(a^b for a,b in zip(pt,ks))
        y=0
        pad=lambda d:d+b"\0"*(-len(d)%16)
        d=pad(aad)+pad(ct)+struct.pack(">QQ",len(aad)*8,len(ct)*8)
        for i in range(0,len(d),16): y=gmul(y^int.from_bytes(d[i:i+16],'big'),h)
        e=int.from_bytes(ecb(key,iv+b"\0\0\0\1"),'big')
        return ct,(y^e).to_bytes(16,'big')
    K=bytes.fromhex("feffe9928665731c6d6a8f9467308308"*2); iv=bytes.fromhex("cafebabefacedbaddecaf888")
    assert gcm(bytes(32),bytes(12),b"",b"")[1].hex()=="530f8afbc74536b9a963b4f1c4cb738b"
    assert gcm(bytes(32),bytes(12),b"",bytes(16))[1].hex()=="d0d1c8a799996bf0265b98b5d48ab919"
    aad=struct.pack("<QQQQII",2|(300<<32),0x0102030405060708,0x1112131415161718,77,0,0)
    ct,tag=gcm(K,iv,aad,bytes(i%256 for i in range(300)))
    print("block ct sha",hashlib.sha256(ct).hexdigest(),"first",ct[:16].hex(),"tag",tag.hex())
    print("NIST case 16, tag", gcm(K,iv,bytes.fromhex("feedfacedeadbeeffeedfacedeadbeefabaddad2"),bytes.fromhex("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"))[1].hex())

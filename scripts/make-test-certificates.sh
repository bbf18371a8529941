#!/bin/sh
# Creates the certificates in Tests/CurlPeers/Certificates again: certificate authorities, one valid server certificate,
# server certificates with one defect each, and a client certificate. The keys aren't secret, because only these tests trust
# the certificates. The certificates are valid for 100 years, except the expired one.
set -eu
cd "$(dirname "$0")/../Tests/CurlPeers/Certificates"
rm -f ./*.pem ./*.p12 ./*.pin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }

# issue NAME ISSUER EXTENSIONS [FROM UNTIL]: creates NAME.pem and its key NAME.key.pem. The issuer "itself" means self-signed.
issue() {
    key "$1.key.pem"
    openssl req -new -key "$1.key.pem" -subj "/CN=BeagleNet test $1" -out "$work/$1.csr" -batch
    printf '%b' "$3" > "$work/$1.ext"
    : > "$work/index"
    by="-cert $2.pem -keyfile $work/$2.key"
    if [ "$2" = itself ]; then by="-selfsign -keyfile $1.key.pem"; fi
    # shellcheck disable=SC2086 # $by is several words
    openssl ca -batch -notext -config "$work/ca.conf" $by -in "$work/$1.csr" -out "$1.pem" \
        -extfile "$work/$1.ext" -startdate "${4:-20200101000000Z}" -enddate "${5:-21200101000000Z}"
}

# authority NAME ISSUER [EXTENSIONS]: creates a certificate authority, whose key is deleted at the end.
authority() {
    issue "$1" "$2" "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\n${3:-}"
    mv "$1.key.pem" "$work/$1.key"
}

cat > "$work/ca.conf" <<CONF
[ca]
default_ca = tests
[tests]
database = $work/index
new_certs_dir = $work
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
CONF

here="subjectAltName=DNS:localhost,IP:127.0.0.1\n"
server="basicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n"

authority ca itself
authority constrained-ca itself "nameConstraints=critical,permitted;DNS:example.org\n"
issue good ca "$server$here"
issue expired ca "$server$here" 20200101000000Z 20210101000000Z
issue wrong-host ca "${server}subjectAltName=DNS:elsewhere.example\n"
issue constrained constrained-ca "$server$here"
issue self-signed itself "$server$here"

# Signed by an intermediate authority, whose certificate a server would have to send; the test server doesn't.
authority intermediate ca
issue no-intermediate intermediate "$server$here"
rm intermediate.pem

# The client's certificate and key: in two files, with an encrypted key, and both in one file. The passphrase is "open sesame".
issue client ca "basicConstraints=CA:FALSE\nextendedKeyUsage=clientAuth\n"
openssl pkcs8 -topk8 -in client.key.pem -out client.encrypted.key.pem -passout "pass:open sesame"
cat client.pem client.key.pem > client.both.pem
openssl pkcs12 -export -in client.pem -inkey client.key.pem -out client.p12 -passout "pass:open sesame"

# The pin of the valid server's key (RFC 7469, 2.4).
openssl pkey -in good.key.pem -pubout -outform der | openssl dgst -sha256 -binary | openssl base64 -A > good.pin

#!/bin/bash
# pillow-heif 1.8.1 (libheif 1.23.6): `ispe` of a HEIC holds the coded size, not the size of the picture.
#
# The usual guess is that the image spatial extents property (ISO/IEC 23008-12, 6.5.3) of the primary item is what a viewer
# shows. Of a picture of 41x31 it says 64x64: a clean aperture (`clap`) cuts it to 41x31, so that a reader of `ispe` alone
# reports the wrong size.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install pillow==13.0.0 pillow-heif==1.8.1 2>/dev/null || exit 69
"$folder/venv/bin/python" - <<'PYTHON'
import io, struct, sys
import PIL, pillow_heif
from PIL import Image

pillow_heif.register_heif_opener()
out = io.BytesIO()
Image.effect_noise((41, 31), 90).convert("RGB").save(out, "HEIF", quality=50)
data = out.getvalue()

def boxes(kind):
    place = data.find(kind)
    while place >= 0:
        yield data[place + 4:]
        place = data.find(kind, place + 4)

claimed = [struct.unpack(">4xII", box[:12]) for box in boxes(b"ispe")]
apertures = [struct.unpack(">IIII", box[:16]) for box in boxes(b"clap")]
shown = Image.open(io.BytesIO(data)).size
print("Pillow", PIL.__version__, "pillow-heif", pillow_heif.__version__, "libheif", pillow_heif.libheif_version())
print("ispe:", claimed)
print("clap:", [(w // d, h // e) for w, d, h, e in apertures])
print("Pillow shows:", shown)
print("guess: ispe [(41, 31)], no clap")
sys.exit(0 if claimed == [(64, 64)] and shown == (41, 31) and len(apertures) == 1 else 1)
PYTHON

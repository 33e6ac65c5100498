"""The text of PDFs beside what pdftotext reads of them: files of Debian's packages, made by many programs, in many scripts."""

import collections
import gzip
import pathlib
import re
import subprocess
import unicodedata

RECALL_MIN = 0.97
"""The share of pdftotext's words below which a file must say what of it is missing."""

# The files, by the package of Debian 12 that they are part of.
FILES = {
    "debian-policy": ["usr/share/doc/debian-policy/fhs/fhs-3.0.pdf.gz", "usr/share/doc/debian-policy/policy.pdf.gz"],
    "debmake-doc": ["usr/share/doc/debmake-doc/debmake-doc.zh-cn.pdf"],
    "developers-reference-ja": ["usr/share/developers-reference/ja/developers-reference.pdf"],
    "docbook-xsl-doc-pdf": ["usr/share/doc/docbook-xsl/reference.pdf.gz"],
    "doxygen-doc": ["usr/share/doc/doxygen/doxygen_manual.pdf.gz"],
    "fonts-sil-abyssinica": [
        "usr/share/doc/fonts-sil-abyssinica/documentation/AbyssinicaSILFontFeatures.pdf",
        "usr/share/doc/fonts-sil-abyssinica/documentation/AbyssinicaSILTypeSample.pdf",
    ],
    "fonts-sil-ezra": ["usr/share/doc/fonts-sil-ezra/Unicode-Ezra-Chart17short.pdf"],
    "fonts-sil-padauk": ["usr/share/doc/fonts-sil-padauk/documentation/Padauk-features.pdf"],
    "fonts-sil-scheherazade": ["usr/share/doc/fonts-sil-scheherazade/documentation/Scheherazade-features.pdf"],
    "gnuplot-doc": ["usr/share/doc/gnuplot/gnuplot.pdf"],
    "graphviz-doc": [
        "usr/share/doc/graphviz/pdf/dot.1.pdf",
        "usr/share/doc/graphviz/pdf/dottyguide.pdf",
        "usr/share/doc/graphviz/pdf/neatoguide.pdf",
    ],
    "groff": [
        "usr/share/doc/groff-base/examples/mom/mon_premier_doc.pdf",
        "usr/share/doc/groff-base/examples/mom/penguin.pdf",
        "usr/share/doc/groff-base/examples/mom/slide-demo.pdf",
    ],
    "installation-guide-amd64": [
        f"usr/share/doc/installation-guide-amd64/{language}/install.{language}.pdf" for language in ("ko", "ru", "vi")
    ],
    "libtheora-doc": ["usr/share/doc/libtheora-dev/Theora.pdf"],
    "python-reportlab-doc": ["usr/share/doc/python-reportlab-doc/reportlab-userguide.pdf"],
    "r-doc-pdf": ["usr/share/R/doc/manual/R-intro.pdf"],
    "sdcc-doc": ["usr/share/doc/sdcc-doc/sdccman.pdf"],
    "speex-doc": ["usr/share/doc/speex/manual.pdf"],
    "tipa-doc": ["usr/share/doc/tipa/tipaman.pdf"],
    "xfig-doc": ["usr/share/doc/xfig/xfig_ref_en.pdf"],
}

# Scripts without spaces: each character counts as a word, as lines end anywhere.
WORD = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff]|(?:(?![\u2e80-\u9fff\uf900-\ufaff])\w)+")


def fetch(directory, package):
    """Returns where a package's files are, after it was downloaded and unpacked unless it was before."""
    unpacked = directory / package
    if not unpacked.exists():
        download = ["apt-get", "download", "-qq", package]
        if subprocess.run(download, cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            # There are no package lists, or their versions are gone.
            subprocess.run(["apt-get", "update", "-qq"], check=True, stdout=subprocess.DEVNULL)
            subprocess.run(download, cwd=directory, check=True)
        [archive] = directory.glob(f"{package}_*.deb")
        subprocess.run(["dpkg-deb", "--extract", archive, unpacked], check=True)
    return unpacked


def files(directory):
    """The files, unpacked."""
    for package, paths in FILES.items():
        unpacked = fetch(directory, package)
        for path in (unpacked / path for path in paths):
            plain = path.with_suffix("") if path.suffix == ".gz" else path
            if not plain.exists():
                plain.write_bytes(gzip.decompress(path.read_bytes()))
            yield plain


def words(text):
    """How often each word occurs; ligatures are their letters."""
    return collections.Counter(WORD.findall(unicodedata.normalize("NFKC", text)))


def judge(directory, extracted):
    """Prints a row a file; returns whether each file is read as well as by pdftotext, or says why not."""
    directory.mkdir(parents=True, exist_ok=True)
    paths = [path.resolve() for path in files(directory.resolve())]
    print("recall precision   words     ms  file, and what is missing of it")
    is_good = True
    for path, found in zip(paths, extracted("files", "application/pdf", paths)):
        read = subprocess.run(["pdftotext", "-enc", "UTF-8", path, "-"], stdout=subprocess.PIPE, check=True).stdout
        ours, theirs = words(found["text"] or ""), words(read.decode())
        both = (ours & theirs).total()
        recall, precision = both / max(theirs.total(), 1), both / max(ours.total(), 1)
        is_read = recall >= RECALL_MIN or theirs.total() == 0
        is_good &= is_read or bool(found["gaps"])
        remark = "".join(f", {gap}" for gap in found["gaps"]) + ("" if is_read or found["gaps"] else ", NOT READ WELL")
        print(f"{recall:6.3f} {precision:9.3f} {theirs.total():7} {found['ms']:6.0f}  {path.name}{remark}")
    return is_good

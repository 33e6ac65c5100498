class Dragline < Formula
  desc "Polite web crawler and archive"
  homepage "https://github.com/dragline/dragline"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

@DOWNLOADS@
  def install
    bin.install "dragline"
    bash_completion.install "completions/dragline.bash" => "dragline"
    zsh_completion.install "completions/_dragline"
    fish_completion.install "completions/dragline.fish"
    man1.install Dir["man/*.1"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/dragline --version")
  end
end

// SPDX-License-Identifier: Apache-2.0
#include <soma/sdk.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nearest {
namespace {

using namespace soma::sdk;

struct Nearest : Node {
    static NodeType describe() {
        return NodeType{"index.nearest"}
            .doc("Finds for each named vector the nearest others, by cosine.\n"
                 "Nearest first; of two equally near the one that came first. Names need not differ. A vector of zeros "
                 "has no direction, so none is near it; nor is any where there is no other.")
            .config(Int("k").defaults(1).min(1).doc("how many others for each; fewer when there are not so many"))
            .input("names", Kind::list,
                   "one name for each vector; names and vectors come as a dict or as a list of the two")
            .input("vectors", Kind::any, "a matrix with one row for each name")
            .output("found", Kind::list,
                    "dicts {name, nearest, score}: k for each name, in the order of the names; one whose nearest and "
                    "score are none for a name that nothing is near")
            .reentrant()
            .example(R"({"names": ["a", "b", "c"], "vectors": {"tensor": [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]}})");
    }
    explicit Nearest(const Create& create) : Node{create}, k_{static_cast<std::size_t>(create.config().get_int("k"))} {}

    Value forward(const Ctx& ctx, const Value& input) {
        const auto [names, matrix] = parts(input);
        const std::size_t count = names.size();
        if (count == 0) return List{};
        const Tensor vectors = obey(ctx, as_tensor(matrix, "`vectors`"));
        if (vectors.dim() != 2 || vectors.size(0) != static_cast<std::int64_t>(count)) {
            throw Error{Code::invalid_argument,
                        "there are " + std::to_string(count) +
                            " names, so `vectors` must be a matrix of as many rows, not of sizes " +
                            vectors.sizes().str()};
        }
        if (vectors.place().kind == SOMA_DEVICE_META) {
            throw Error{Code::wrong_device, "the vectors are on `meta` and hold no numbers to compare"};
        }
        // In double: near-duplicates differ from 1 by less than a float can say after hundreds of additions.
        const Tensor unit = normalize(to_dtype(detach(vectors), "float64"));

        const std::vector<double> lengths = to_vector<double>(sum(unit * unit, {1}));
        List found;
        const std::size_t wanted = std::min(k_, count - 1);
        found.reserve(count * wanted);
        // Row by row of a few: the whole matrix of scores of a large collection need not fit in memory.
        constexpr std::size_t at_once = 256;
        for (std::size_t first = 0; first < count; first += at_once) {
            ctx.stop_if_cancelled();
            const std::size_t rows = std::min(at_once, count - first);
            const Tensor part = narrow(unit, 0, static_cast<std::int64_t>(first), static_cast<std::int64_t>(rows));
            const std::vector<double> scores = to_vector<double>(matmul(part, t(unit)));
            for (std::size_t row = 0; row < rows; ++row) {
                const double* mine = &scores[row * count];
                const std::vector<std::size_t> others = best(mine, lengths, first + row, wanted);
                if (others.empty()) {
                    found.add(Dict{{"name", names[first + row]}, {"nearest", Value{}}, {"score", Value{}}});
                }
                for (const std::size_t other : others) {
                    found.add(Dict{{"name", names[first + row]},
                                   {"nearest", names[other]},
                                   {"score", std::clamp(mine[other], -1.0, 1.0)}});
                }
            }
        }
        return found;
    }

private:
    struct Parts {
        std::vector<std::string> names;
        Value vectors;
    };

    static Parts parts(const Value& input) {
        Value names;
        Value vectors;
        if (input.is(Kind::dict)) {
            names = input.at("names");
            vectors = input.at("vectors");
        } else if (input.is(Kind::list) && input.size() == 2) {
            names = input.at(0);
            vectors = input.at(1);
        } else {
            throw Error{Code::type_mismatch,
                        "the input must be names and vectors, as a dict of those keys or a list of the two"};
        }
        names.expect(Kind::list, "`names`");
        Parts parts{{}, std::move(vectors)};
        for (const Value& name : Items{names}) {
            parts.names.emplace_back(name.expect(Kind::string, "each of `names`").as_string());
        }
        return parts;
    }

    /// The `wanted` best of a row of scores, without the row's own and those of length 0; a NaN comes last.
    static std::vector<std::size_t> best(const double* scores, const std::vector<double>& lengths, std::size_t self,
                                         std::size_t wanted) {
        if (lengths[self] == 0) return {};
        std::vector<std::size_t> order(lengths.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        const auto is_left_out = [&](std::size_t i) { return i == self || lengths[i] == 0; };
        order.erase(std::remove_if(order.begin(), order.end(), is_left_out), order.end());
        wanted = std::min(wanted, order.size());
        const auto rank = [&](std::size_t i) { return std::isnan(scores[i]) ? -2.0 : scores[i]; };
        std::partial_sort(
            order.begin(), order.begin() + static_cast<std::ptrdiff_t>(wanted), order.end(),
            [&](std::size_t a, std::size_t b) { return rank(a) > rank(b) || (rank(a) == rank(b) && a < b); });
        order.resize(wanted);
        return order;
    }

    std::size_t k_;
};

} // namespace
} // namespace nearest

SOMA_PLUGIN(soma::sdk::Plugin("index", "0.1.0").doc("Searching among vectors.").license("Apache-2.0"), nearest::Nearest)

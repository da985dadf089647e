// Package policy makes filters and scores of expressions, so that users may state rules of their own as text:
//
//	hasLabel("zone", "a") && !matchesTaint("gpu", "NoSchedule") && cpu >= 4
//	and(hasLabel("zone", "a"), not(matchesTaint("gpu", "NoSchedule")), cpu >= 4)
//	100 * (free("cpu") - podRequest("cpu")) / allocatable("cpu") - default(labelNumber("price"), 10)
//
// [Parse] reads an expression and checks it; faults have a line and a column. [NewFilter] makes a filter of one whose type is
// bool, [NewScorer] a score of one whose type is number, both for a score.Config.
//
// # The language
//
// An expression has no loops, no variables and no effects: it always ends, in a time that its size bounds. Source, size and
// nesting are limited by [Config].
//
//	expression  = conjunction { "||" conjunction } .
//	conjunction = comparison { "&&" comparison } .
//	comparison  = sum [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) sum ] .
//	sum         = product { ( "+" | "-" ) product } .
//	product     = unary { ( "*" | "/" | "%" ) unary } .
//	unary       = ( "!" | "-" ) unary | primary .
//	primary     = number | text | "true" | "false" | "cpu" | "memory" | call | "(" expression ")" .
//	call        = name "(" [ expression { "," expression } ] ")" .
//	name        = letter { letter | digit | "_" } .
//	number      = digits [ "." digits ] [ "m" | "k" | "M" | "G" | "T" | "P" | "Ki" | "Mi" | "Gi" | "Ti" | "Pi" ] .
//	text        = a string literal of Go in double quotes .
//
// White space separates, and # begins a comment up to the end of the line. A name is of ASCII letters.
//
// A bool is true or false. A text is compared by == and != only, and so is a bool. A number is a decimal with three places
// (see [Number]): 500m is 0.5, 4Gi is 4294967296; a literal that needs more places is an error. CPU is in cores, memory and
// storage in bytes, all else in units. Results are rounded towards 0 to three places. There is no overflow: what is beyond
// the range, about ±9.2e15, saturates.
//
// # Functions
//
// Of a node; keys, values, effects and resources are literals:
//
//	hasLabel(key, value...)     bool    carries the label, with one of the values if any are given
//	label(key)                  text    its value, missing if it is not there
//	labelNumber(key)            number  its value as a number, which may begin with "-"; missing if it is none
//	matchesTaint(key)           bool    carries a taint with the key
//	matchesTaint(key, effect)   bool    ... and the effect
//	matchesTaint(key, value, effect)    ... and the value
//	unschedulable()             bool    is cordoned
//	nodeName()                  text
//	allocatable(resource)       number  what it offers, 0 if it does not know the resource
//	requested(resource)         number  what its pods request
//	free(resource)              number  the difference, below 0 if it is over-committed
//	cpu, memory                 number  short for free("cpu"), free("memory")
//	gpus(), gpusFree()          number  shareable GPUs, and what is free of them
//	gpuModel()                  text    their model, missing if it has none
//	podsWithLabel(key, value...) number  its pods that carry the label
//
// Of the pod that is placed:
//
//	podNamespace()              text
//	podLabel(key)               text    missing if it is not there
//	podHasLabel(key, value...)  bool
//	podPriority()               number
//	podRequest(resource)        number  1 for pods
//	podGPUs()                   number
//
// Of the cluster:
//
//	nodes(), placedPods()       number
//	domains(key)                number  different values of a label
//	count(bool)                 number  nodes for which it is true
//
// Of values:
//
//	and(a, b...), or(a, b...), not(a)       the same as &&, || and !
//	min(a...), max(a...), abs(a)            of numbers
//	startsWith(a, b), endsWith(a, b), contains(a, b)    of texts
//	if(bool, a, b)                          a or b, numbers or texts
//	present(a)                              is not missing
//	default(a, b)                           b if a is missing
//
// Users add functions of their own by the [Config]: see [Function].
//
// # Missing values
//
// A number or a text may be missing: a label that is not there, a division by 0. What is computed from a missing value is
// missing too, but for if, which looks at the chosen side alone, present and default. A bool is never missing: a comparison
// with a missing value is false, whatever the operator, and so is a function of it. So label("zone") != "a" is false for a node
// without a zone, and !(label("zone") == "a") is true for it. A score that is missing is 0.
//
// # What it costs
//
// A filter is compiled to operations on sets of nodes. What does not depend on the node is evaluated once an evaluation. The
// largest parts that depend on the node alone are a set each, made once from the posting lists of labels, from the lists of
// taints, and by evaluations of the rest for the nodes that are still in question then; afterwards it is repaired for the
// nodes that changed (affinity.Graph.Changes). A comparison of a label with a text of the pod is a posting list. Any other term
// that depends on the node and the pod has a set for each combination of the pod's values that came up last, up to 16, and so
// has the filter as a whole. A term for which a combination is new is compared with the kept column of each part that depends
// on the node alone.
//
//	an evaluation            O(nodes/64), O(size of the expression) for each changed node
//	with new values of a pod O(nodes/64) for each set, O(nodes in question) for each term with the new values
//	the first                O(nodes) for each term that has no posting lists
//	a function that reads    a call for each node in question
//	  both node and cluster
//	memory                   nodes/8 bytes a set, 8 bytes a node a column
//
// A score is evaluated for each node that it is asked about; the pipeline keeps the columns of those that do not look at the
// cluster, and asks for nodes that changed.
//
// # The caller's duties
//
// A [Filter] belongs to the owner of the graph. A user's function must not read more than it declares, must not change what
// it is given, and must be as deterministic as decisions are to be.
//
// # Guarantees
//
// An expression that Parse accepts can be evaluated on any node, pod and cluster without an error. The form that
// [Expr.String] gives is parsed to the same expression. The answer is that of an evaluation for each node by itself.
package policy
